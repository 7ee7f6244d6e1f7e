"""Two logs of checked tensors, say of float32 and of float16, side by side in one table."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from math import isfinite
from pathlib import Path
from typing import TypeAlias
from xml.sax.saxutils import escape
from zipfile import ZIP_DEFLATED, ZipFile

from ..core.atomic_file import atomic_file
from ..core.errors import ArgumentError, UnsupportedError

_LINE = re.compile(
    r"\[PRECISION\](?: \[ERROR\])? in "
    r"\[device=[^,]*, op=(?P<op>[^,]*), tensor=(?P<tensor>[^,]*), dtype=(?P<dtype>\w*)\], "
    r"numel=(?P<numel>\d+), (?:num_nan=(?P<nan>\d+), num_inf=(?P<inf>\d+), )?num_zero=(?P<zero>\d+), "
    r"max=(?P<max>\S+), min=(?P<min>\S+), mean=(?P<mean>\S+)"
)
_FIELDS = ("dtype", "numel", "nan", "inf", "zero", "max", "min", "mean")
_SCALED = ("max", "min", "mean")
Cell: TypeAlias = "str | int | float"


def compare_accuracy(
    dump_path: str, another_dump_path: str, output_filename: str, loss_scale: float = 1, dump_all_tensors: bool = False
) -> None:
    """Write a table of two logs of `enable_tensor_checker` side by side: the n-th call of an op beside the n-th one.

    dump_path, another_dump_path: folders that were the `output_dir` of a run each, say in float32 and in float16.
    output_filename: an Excel file (.xlsx), or text with commas where the name ends in .csv. loss_scale: by which the
    second run's loss was scaled; its maximum, minimum and mean stand there divided by it, too, to be compared where a
    tensor is a gradient. Raises UnsupportedError for dump_all_tensors, ArgumentError where a folder has no log
    or loss_scale is not positive. Source: paddle.amp.debugging.compare_accuracy.

    Example:
        >>> import tempfile, vitrify as paddle
        >>> from pathlib import Path
        >>> debugging, mode = paddle.amp.debugging, paddle.amp.debugging.DebugMode.CHECK_ALL
        >>> folder = tempfile.mkdtemp()
        >>> for dtype in ("float32", "float16"):
        ...     debugging.enable_tensor_checker(debugging.TensorCheckerConfig(True, mode, f"{folder}/{dtype}"))
        ...     y = paddle.ones([2], dtype) * 60000 * 2
        ...     debugging.disable_tensor_checker()
        >>> debugging.compare_accuracy(f"{folder}/float32", f"{folder}/float16", f"{folder}/both.csv")
        >>> [line.split(",")[:3] for line in Path(f"{folder}/both.csv").read_text().splitlines()][2:]
        [['multiply', '', 'equal'], ['multiply', '', 'only the second has NaN or Inf']]
    """
    if dump_all_tensors:
        raise UnsupportedError(
            "compare_accuracy: dump_all_tensors is not supported", hint="the logs hold what is known of each tensor"
        )
    if not loss_scale > 0:
        raise ArgumentError(f"compare_accuracy: loss_scale must be positive, got {loss_scale!r}")
    rows = list(_table(_read(dump_path), _read(another_dump_path), loss_scale))
    with atomic_file(output_filename) as file:
        file.write(_csv(rows) if output_filename.endswith(".csv") else _xlsx(rows))


_Entry: TypeAlias = "dict[str, str]"


def _read(folder: str) -> dict[tuple[str, str, int], _Entry]:
    """What the logs of a folder tell, by op, tensor, and the how manieth such pair it is, in order."""
    found: dict[tuple[str, str, int], _Entry] = {}
    seen: dict[tuple[str, str], int] = {}
    for path in sorted(Path(folder).glob("*")):
        for match in _LINE.finditer(path.read_text(encoding="utf-8", errors="replace")):
            entry = {name: text or "0" for name, text in match.groupdict().items()}
            name = (match["op"], match["tensor"])
            seen[name] = seen.get(name, -1) + 1
            found[(*name, seen[name])] = entry
    if not found:
        raise ArgumentError(
            f"compare_accuracy: there is no log of checked tensors in {folder!r}",
            hint="TensorCheckerConfig(True, DebugMode.CHECK_ALL, output_dir=folder) writes one",
        )
    return found


def _table(
    one: dict[tuple[str, str, int], _Entry], other: dict[tuple[str, str, int], _Entry], scale: float
) -> Iterator[Sequence[Cell]]:
    yield ["op", "tensor", "verdict", *(f"{n} 1" for n in _FIELDS), *(f"{n} 2" for n in _FIELDS),
           *(f"{n} 2 / {scale:g}" for n in _SCALED)]  # fmt: skip
    for key in dict.fromkeys((*one, *other)):
        a, b = one.get(key), other.get(key)
        scaled = [float(b[name]) / scale for name in _SCALED] if b else [""] * 3
        yield [*key[:2], _verdict(a, b), *_cells(a), *_cells(b), *scaled]


def _cells(entry: _Entry | None) -> list[Cell]:
    if entry is None:
        return [""] * len(_FIELDS)
    return [entry["dtype"], *(int(entry[n]) for n in _FIELDS[1:5]), *(float(entry[n]) for n in _FIELDS[5:])]


def _verdict(a: _Entry | None, b: _Entry | None) -> str:
    """What of two calls is worth looking at."""
    if a is None or b is None:
        return f"only in the {'second' if a is None else 'first'}"
    bad = [entry["nan"] != "0" or entry["inf"] != "0" for entry in (a, b)]
    if bad[0] != bad[1]:
        return f"only the {'first' if bad[0] else 'second'} has NaN or Inf"
    if bad[0]:
        return "both have NaN or Inf"
    return "equal" if all(a[name] == b[name] for name in _SCALED) else "different"


def _csv(rows: Sequence[Sequence[Cell]]) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()


_PARTS = {
    "[Content_Types].xml": (
        '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Override PartName="/xl/workbook.xml" '
        'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
        '<Override PartName="/xl/sheet.xml" '
        'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>'
    ),
    "_rels/.rels": (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" '
        'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>'
    ),
    "xl/workbook.xml": (
        '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
        'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">'
        '<sheets><sheet name="compare" sheetId="1" r:id="rId1"/></sheets></workbook>'
    ),
    "xl/_rels/workbook.xml.rels": (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" '
        'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="sheet.xml"/>'
        "</Relationships>"
    ),
}


def _xlsx(rows: Sequence[Sequence[Cell]]) -> bytes:
    """An Excel file of one sheet. Source: ECMA-376, part 1, the least that a workbook has."""
    sheet = "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in rows)
    parts = _PARTS | {
        "xl/sheet.xml": '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        f"<sheetData>{sheet}</sheetData></worksheet>"
    }
    out = io.BytesIO()
    with ZipFile(out, "w", ZIP_DEFLATED) as file:
        for name, text in parts.items():
            file.writestr(name, f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>{text}')
    return out.getvalue()


def _cell(value: Cell) -> str:
    """A number, or text where it is none that Excel knows."""
    if isinstance(value, (int, float)) and isfinite(value):
        return f"<c><v>{value!r}</v></c>"
    return f'<c t="inlineStr"><is><t>{escape(str(value))}</t></is></c>'
