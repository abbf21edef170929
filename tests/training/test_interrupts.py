import signal
import threading

import pytest

from softhash.training.interrupts import held_interrupts


@pytest.fixture(autouse=True)
def usual_handler():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_the_first_is_held_and_the_second_is_not():
    with held_interrupts() as came:
        assert not came()
        signal.raise_signal(signal.SIGINT)
        assert came()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):  # the usual handler is back
        signal.raise_signal(signal.SIGINT)


def test_where_it_is_ignored_it_stays_so():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with held_interrupts() as came:
        signal.raise_signal(signal.SIGINT)
        assert not came()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_other_threads_may_train_too():
    seen = []

    def work():
        with held_interrupts() as came:
            seen.append(came())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [False]
