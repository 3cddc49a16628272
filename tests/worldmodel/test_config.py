"""Options: what is refused, by its name and with what is allowed."""

from worldmodel.config import TrainConfig


def test_options_that_change_no_number_do_not_change_the_identity():
    assert (
        TrainConfig(log_every=1, resume=False, stream=True).identity() == TrainConfig().identity()
    )
    assert TrainConfig(seed=1).identity() != TrainConfig().identity()
    assert TrainConfig(threads=1).identity() != TrainConfig(threads=2).identity()
