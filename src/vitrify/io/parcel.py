"""Sending objects with large arrays between processes: the arrays' memory is shared, the rest is pickled.

Shared memory has no name that could stay behind: it is a file in memory that only its descriptors keep alive, and the
descriptor travels over the socket. Where the system has no such files, arrays go through the socket.
"""

from __future__ import annotations

import mmap
import os
import pickle
import socket
from collections.abc import Sequence
from contextlib import closing
from io import BytesIO
from multiprocessing.connection import Connection
from typing import Any

_SMALL = 16 * 1024
"""Bytes that are cheaper to send than to share."""
_ALIGN = 64

CAN_SHARE = hasattr(os, "memfd_create") and hasattr(socket, "send_fds")


class Parcel:
    """An object, pickled but for the memory of its arrays."""

    def __init__(self, value: Any) -> None:
        buffers: list[pickle.PickleBuffer] = []
        body = BytesIO()
        pickle.Pickler(body, protocol=5, buffer_callback=buffers.append).dump(value)
        self._body = body.getvalue()
        self._views = [buffer.raw() for buffer in buffers]

    def send(self, connection: Connection, share: bool) -> None:
        """Send it to where `receive` waits; `share`: large arrays by shared memory."""
        sizes = [view.nbytes for view in self._views]
        shared = share and CAN_SHARE and sum(sizes) > _SMALL
        connection.send((self._body, sizes, shared))
        if shared:
            _send_shared(connection, self._views)
        else:
            for view in self._views:
                connection.send_bytes(view)


def receive(connection: Connection) -> Any:
    """The object of a Parcel. Its arrays are this process's own and writable. Raises EOFError when none comes."""
    body, sizes, shared = connection.recv()
    views: Sequence[Any]
    if shared:
        memory = memoryview(_receive_shared(connection))
        views = [memory[start : start + size] for start, size in zip(_starts(sizes), sizes)]
    else:
        views = [bytearray(connection.recv_bytes()) for _ in sizes]
    return pickle.loads(body, buffers=views)


def _starts(sizes: Sequence[int]) -> list[int]:
    """Where each buffer begins, aligned for vector instructions; and at last where the memory ends."""
    starts = [0]
    for size in sizes:
        starts.append(starts[-1] + -(-size // _ALIGN) * _ALIGN)
    return starts


def _send_shared(connection: Connection, views: Sequence[memoryview]) -> None:
    starts = _starts([view.nbytes for view in views])
    descriptor = os.memfd_create("vitrify-batch")
    try:
        os.ftruncate(descriptor, starts[-1])
        with mmap.mmap(descriptor, starts[-1]) as memory:
            for start, view in zip(starts, views):
                memory[start : start + view.nbytes] = view
        with closing(_socket(connection)) as channel:
            socket.send_fds(channel, [b"m"], [descriptor])
    finally:
        os.close(descriptor)


def _receive_shared(connection: Connection) -> mmap.mmap:
    """The memory that the other end sent; it is freed with the last array that uses it."""
    with closing(_socket(connection)) as channel:
        _, descriptors, _, _ = socket.recv_fds(channel, 1, 1)
    if not descriptors:  # the sender died between the message and the memory
        raise EOFError
    try:
        return mmap.mmap(descriptors[0], 0)
    finally:
        os.close(descriptors[0])


def _socket(connection: Connection) -> socket.socket:
    return socket.socket(fileno=os.dup(connection.fileno()))
