"""A child's sign of life: a number in its page that grows for as long as it can run Python."""

import threading
import time
from itertools import count

from horsies.adapters.execution.page import Page

PERIOD_SECONDS = 0.5


def keep_pulse(page: Page) -> None:
    """A thread of its own: it stands still with the process, or with whoever keeps the GIL."""

    def beat() -> None:
        for number in count(1):
            page.note_pulse(number)
            time.sleep(PERIOD_SECONDS)

    threading.Thread(target=beat, name="horsies-pulse", daemon=True).start()
