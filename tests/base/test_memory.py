import os

from oneclass.base.memory import available_bytes


def test_available_memory_is_within_the_machine(xp):
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    assert 0 < available_bytes(xp.ones(3)) <= physical
