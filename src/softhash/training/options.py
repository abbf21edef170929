"""Where and how a run happens."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from softhash.data.loading import Progress
from softhash.files import cache_folder

OnEpoch = Callable[[dict[str, Any]], None]


@dataclass
class Options:
    """Where and how a run happens, without any influence on what it ends with.

    Attributes:
        device: `auto`, `cpu` or `cuda`.
        on_epoch: called with the figures of each epoch.
        on_resume: called with those of each epoch that a checkpoint has, where a run goes on.
        progress: called with (pictures dealt with, pictures in all) while features are computed or
            pictures decoded.
        on_labels: called with (steps done, steps in all) while the names of labels are learned.
        checkpoint: a file that keeps the run, written after each epoch and on interruption.
        resume: whether to go on from the checkpoint, where there is one.
        train_set: what identifies the train set of a checkpoint; `fit` fills it in.
        cache: a folder that keeps features and decoded pictures for the next run. Without it,
            features are kept in the user's cache folder, and so are pictures that take more than
            2 GB decoded; fewer are kept in memory.
        warn: called with one line about everything that is left out.

    """

    device: str = "auto"
    on_epoch: OnEpoch = lambda figures: None
    on_resume: OnEpoch = lambda figures: None
    progress: Progress | None = None
    on_labels: Progress = lambda done, total: None
    checkpoint: Path | None = None
    resume: bool = False
    train_set: str = ""
    cache: Path | None = None
    warn: Callable[[str], None] = lambda text: None

    @property
    def feature_cache(self) -> Path:
        """The folder that keeps features."""
        return self.cache or cache_folder() / "features"

    @property
    def resumes(self) -> bool:
        """Whether there is a checkpoint to go on from, and it is wanted."""
        return bool(self.resume and self.checkpoint and self.checkpoint.exists())
