"""A limit on the memory of this process, as Windows has it: a job that the process is put into."""

from __future__ import annotations

import ctypes
from typing import Any

PROCESS_MEMORY = 0x100
"""JOB_OBJECT_LIMIT_PROCESS_MEMORY."""
EXTENDED_LIMITS = 9
"""JobObjectExtendedLimitInformation."""

Word, Long, Size = ctypes.c_uint32, ctypes.c_int64, ctypes.c_size_t


class BasicLimits(ctypes.Structure):
    """JOBOBJECT_BASIC_LIMIT_INFORMATION."""

    _fields_ = (
        ("per_process_user_time", Long),
        ("per_job_user_time", Long),
        ("flags", Word),
        ("least_working_set", Size),
        ("most_working_set", Size),
        ("most_processes", Word),
        ("affinity", Size),
        ("priority_class", Word),
        ("scheduling_class", Word),
    )


class ExtendedLimits(ctypes.Structure):
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION: the basic limits, six counters of input and output, and memory."""

    _fields_ = (
        ("basic", BasicLimits),
        ("counters", ctypes.c_uint64 * 6),
        ("process_memory", Size),
        ("job_memory", Size),
        ("peak_process_memory", Size),
        ("peak_job_memory", Size),
    )


_jobs: list[Any] = []
"""The job that the process is in: one limit is replaced by the next."""


def limit_memory(most: int) -> None:
    """Let this process have so many bytes of memory at most; nothing happens where Windows refuses the job."""
    kernel: Any = getattr(ctypes, "windll").kernel32  # noqa: B009
    kernel.CreateJobObjectW.restype = ctypes.c_void_p
    kernel.GetCurrentProcess.restype = ctypes.c_void_p
    if not _jobs:
        job = ctypes.c_void_p(kernel.CreateJobObjectW(None, None))
        if not kernel.AssignProcessToJobObject(job, ctypes.c_void_p(kernel.GetCurrentProcess())):
            return
        _jobs.append(job)
    limits = ExtendedLimits()
    limits.basic.flags = PROCESS_MEMORY
    limits.process_memory = most
    kernel.SetInformationJobObject(_jobs[0], EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits))
