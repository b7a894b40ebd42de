"""Writing Gmsh MSH files, version 2.2 and 4.1, text and binary."""

from typing import NamedTuple

import numpy as np

from meshes.formats.raw import spatial
from meshes.mesh import PLURALS, Mesh

_TYPES = {0: 15, 1: 1, 2: 2, 3: 4}


class _Part(NamedTuple):
    """Elements of one degree with the same groups."""

    degree: int
    rows: np.ndarray
    physical: tuple[int, ...]


def write(mesh: Mesh, *, binary: bool = False, version: str = "4.1") -> tuple[bytes, list[str]]:
    """An MSH file, text or binary, version 4.1 or 2.2 (which lists an element once for each of its groups)."""
    if version not in ("2.2", "4.1"):
        raise ValueError(f"got version={version!r}; expected '2.2' or '4.1'")
    points = spatial(mesh)
    names, parts, notes = _parts(mesh)
    head = (
        f"$MeshFormat\n{version} {int(binary)} 8\n".encode()
        + (b"\x01\0\0\0\n" if binary else b"")
        + b"$EndMeshFormat\n"
    )
    lines = [f'{d} {t} "{name}"' for (d, t), name in names.items()]
    if lines:
        head += "\n".join(["$PhysicalNames", str(len(lines)), *lines, "$EndPhysicalNames", ""]).encode()
    body = (_version2 if version == "2.2" else _version4)(points, parts, _Packer(binary))
    return head + body, notes


def _parts(mesh: Mesh) -> tuple[dict[tuple[int, int], str], list[_Part], list[str]]:
    names: dict[tuple[int, int], str] = {}
    parts, notes = [], []
    for degree in range(mesh.degree, -1, -1):
        groups = {n: r for n, r in mesh.groups.items() if r.shape[1] == degree + 1}
        own: dict[tuple[int, ...], list[int]] = {}
        rows: dict[tuple[int, ...], list[int]] = {}
        listed: list[list[int]] = []
        if degree == mesh.degree:
            listed = mesh.cells.tolist()
            for cell in listed:
                rows.setdefault(tuple(sorted(cell)), cell)
        for number, (name, group) in enumerate(groups.items(), start=1):
            if name in ("none", f"none ({PLURALS[degree]})"):
                number = 0
            elif not name.isprintable() or '"' in name or "$End" in name:
                raise ValueError(f"got the group name {name!r}; expected a printable one without quotes for MSH")
            else:
                bare = name.removesuffix(f" ({PLURALS[degree]})")
                shared = bare in mesh.groups and mesh.groups[bare].shape[1] != degree + 1
                names[degree, number] = bare if shared else name
            for row in group.tolist():
                key = tuple(sorted(row))
                if degree == mesh.degree and key not in rows:
                    notes.append(f"group {name!r} holds {row}, which is no cell: left out")
                    continue
                rows.setdefault(key, row)
                own.setdefault(key, [])
                if number:
                    own[key].append(number)
        together: dict[tuple[int, ...], list[list[int]]] = {}
        for row in listed or rows.values():
            together.setdefault(tuple(sorted(set(own.get(tuple(sorted(row)), ())))), []).append(row)
        parts += [_Part(degree, np.array(r, np.int64), physical) for physical, r in together.items()]
    return names, parts, notes


class _Packer:
    """Rows of numbers as text lines or as bytes."""

    def __init__(self, binary: bool) -> None:
        self.binary = binary

    def row(self, *values: tuple[str, list]) -> bytes:
        """One row of (type, numbers): i int, n size_t, d double."""
        if self.binary:
            kinds = {"i": "<i4", "n": "<u8", "d": "<f8"}
            return b"".join(np.array(v, kinds[k]).tobytes() for k, v in values)
        return (" ".join(repr(x) for _, v in values for x in v) + "\n").encode()

    def table(self, kinds: str, rows: np.ndarray) -> bytes:
        """Rows of one type each."""
        if self.binary:
            return rows.astype({"n": "<u8", "d": "<f8", "i": "<i4"}[kinds]).tobytes()
        return "".join(" ".join(map(repr, row)) + "\n" for row in rows.tolist()).encode()

    def section(self, name: str, body: bytes) -> bytes:
        return f"${name}\n".encode() + body + (b"\n" if self.binary else b"") + f"$End{name}\n".encode()


def _version4(points: np.ndarray, parts: list[_Part], pack: _Packer) -> bytes:
    entities, elements = b"", b""
    counts, total = [0, 0, 0, 0], 0
    ordered = sorted(parts, key=lambda p: p.degree)
    for part in ordered:
        counts[part.degree] += 1
        place = points[part.rows.ravel()]
        box = place[0].tolist() if not part.degree else [*place.min(axis=0).tolist(), *place.max(axis=0).tolist()]
        tail = [("n", [0])] if part.degree else []
        physical = list(part.physical)
        entities += pack.row(("i", [counts[part.degree]]), ("d", box), ("n", [len(physical)]), ("i", physical), *tail)
        elements += pack.row(("i", [part.degree, counts[part.degree], _TYPES[part.degree]]), ("n", [len(part.rows)]))
        tags = total + 1 + np.arange(len(part.rows))
        elements += pack.table("n", np.concatenate([tags[:, None], part.rows + 1], axis=1))
        total += len(part.rows)
    first = next(p for p in ordered if p.degree == max(q.degree for q in ordered))
    nodes = pack.row(("n", [1, len(points), 1, len(points)])) + pack.row(
        ("i", [first.degree, 1, 0]), ("n", [len(points)])
    )
    nodes += pack.table("n", 1 + np.arange(len(points))[:, None]) + pack.table("d", points)
    return (
        pack.section("Entities", pack.row(("n", counts)) + entities)
        + pack.section("Nodes", nodes)
        + pack.section("Elements", pack.row(("n", [len(parts), total, 1, total])) + elements)
    )


def _version2(points: np.ndarray, parts: list[_Part], pack: _Packer) -> bytes:
    tags = np.arange(1, len(points) + 1)
    if pack.binary:
        record = np.empty(len(points), np.dtype([("tag", "<i4"), ("x", "<f8", 3)]))
        record["tag"], record["x"] = tags, points
        nodes = record.tobytes()
    else:
        nodes = "".join(f"{t} {x!r} {y!r} {z!r}\n" for t, (x, y, z) in zip(tags, points.tolist(), strict=True)).encode()
    body, total = b"", 0
    for entity, part in enumerate(parts, start=1):
        for physical in part.physical or (0,):
            head = np.tile([physical, entity], (len(part.rows), 1))
            number = (total + 1 + np.arange(len(part.rows)))[:, None]
            if pack.binary:
                body += pack.row(("i", [_TYPES[part.degree], len(part.rows), 2]))
                body += pack.table("i", np.concatenate([number, head, part.rows + 1], axis=1))
            else:
                kind = np.tile([_TYPES[part.degree], 2], (len(part.rows), 1))
                body += pack.table("i", np.concatenate([number, kind, head, part.rows + 1], axis=1))
            total += len(part.rows)
    return pack.section("Nodes", f"{len(points)}\n".encode() + nodes) + pack.section(
        "Elements", f"{total}\n".encode() + body
    )
