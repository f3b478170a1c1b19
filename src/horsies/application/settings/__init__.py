"""The settings of applications and workers; whoever holds one holds one that can work."""

from horsies.application.settings.app import AppConfig
from horsies.application.settings.postgres import PostgresConfig
from horsies.application.settings.queues import CustomQueueConfig, QueueMode
from horsies.application.settings.recovery import RecoveryConfig
from horsies.application.settings.resilience import WorkerResilienceConfig
from horsies.application.settings.secret import Secret
from horsies.application.settings.worker import WorkerConfig

__all__ = [
    "AppConfig",
    "CustomQueueConfig",
    "PostgresConfig",
    "QueueMode",
    "RecoveryConfig",
    "Secret",
    "WorkerConfig",
    "WorkerResilienceConfig",
]
