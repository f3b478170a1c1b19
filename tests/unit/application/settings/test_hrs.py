"""Laws of the HRS codes."""

import re

from horsies.application.hrs import Hrs


def test_codes_are_written_alike_and_listed_in_order():
    codes = [str(code) for code in Hrs]

    assert all(re.fullmatch(r"HRS-\d{3}", code) for code in codes)
    assert codes == sorted(set(codes))


def test_no_two_names_share_a_code():
    assert len(Hrs) == len(Hrs.__members__)
