"""Estimates cycles of a butterfly from compiled kernels, by llvm-mca: nothing is run.

    python3 tools/cycles/butterfly.py FILE TRIPLE CPU LANES

FILE is a library of `windlass-kernels` (`libwindlass_kernels-*.rlib`), LANES the doubles of a
register: `x86_64-linux-gnu znver3 4`, `x86_64-linux-gnu znver4 8`, `aarch64-linux-gnu neoverse-v2
2`. It looks at the innermost loops that do three layers of a transform on eight registers, or on
sixteen, without a reduction: for each product one multiplication, three fused multiply-additions
and four additions. Needs objdump for the target and llvm-mca 19.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

# Products in three layers on eight registers.
BUTTERFLIES = 12
ITERATIONS = 100

Instruction = tuple[int, str]

FUNCTION = re.compile(r"[0-9a-f]+ <.*>:")
INSTRUCTION = re.compile(r"\s*([0-9a-f]+):\s+(\S.*)")
JUMP = re.compile(r"(?:j[a-z]+|b(?:\.[a-z]+)?|cbn?z\s+\w+,|tbn?z\s.*,)\s+(?:0x)?([0-9a-f]+)\b")
# What objdump says about an instruction, beside it.
REMARK = re.compile(r"\s*(?://|<|#(?!-?[0-9])).*")
OPERATIONS = {
    "products": re.compile(r"\bfmul\b|\bvmulpd\b"),
    "fused": re.compile(r"\bfml[as]\b|\bvfn?m(?:add|sub)\d+pd\b"),
    "sums": re.compile(r"\bf(?:add|sub)\b|\bv(?:add|sub)pd\b"),
}
REGISTERS = {2: "v", 4: "%ymm", 8: "%zmm"}


def program(*names: str) -> str:
    """The first of these programs that is installed."""
    for name in names:
        if shutil.which(name) is not None:
            return name
    sys.exit(f"none of {', '.join(names)} is installed")


def functions(file: Path, triple: str) -> Iterator[list[Instruction]]:
    """The instructions of each function."""
    tool = program(f"{triple}-objdump", "llvm-objdump-19", "objdump")
    command = [tool, "-d", "--no-show-raw-insn", str(file)]
    listing = subprocess.run(command, check=True, text=True, capture_output=True).stdout
    body: list[Instruction] = []
    for line in listing.splitlines():
        if FUNCTION.match(line):
            yield body
            body = []
        elif found := INSTRUCTION.match(line):
            body.append((int(found[1], 16), found[2].strip()))
    yield body


def innermost_loops(body: list[Instruction]) -> Iterator[list[str]]:
    """The instructions of each loop that holds no other, without the jump back."""
    place = {address: i for i, (address, _) in enumerate(body)}
    loops = []
    for end, (address, text) in enumerate(body):
        found = JUMP.match(text)
        if found and int(found[1], 16) <= address and int(found[1], 16) in place:
            loops.append((place[int(found[1], 16)], end))
    for start, end in loops:
        if not any(start <= s and e <= end and (s, e) != (start, end) for s, e in loops):
            yield [text for _, text in body[start:end]]


def columns(loop: list[str], lanes: int) -> int:
    """How many columns of eight registers a loop transforms; 0 if it does something else."""
    counts = [sum(bool(kind.search(text)) for text in loop) for kind in OPERATIONS.values()]
    number = counts[0] // BUTTERFLIES
    wanted = [BUTTERFLIES * number * each for each in (1, 3, 4)]
    wide = any(REGISTERS[lanes] in text for text in loop)
    return number if number in (1, 2) and counts == wanted and wide else 0


def estimate(loop: list[str], triple: str, cpu: str) -> tuple[float, float]:
    """Cycles of a turn of the loop, and the least that its instructions allow."""
    straight = [REMARK.sub("", text) for text in loop if not JUMP.match(text)]
    command = [program("llvm-mca-19", "llvm-mca"), f"-mtriple={triple}", f"-mcpu={cpu}"]
    said = subprocess.run(
        [*command, f"-iterations={ITERATIONS}"],
        check=True, text=True, capture_output=True, input="\n".join(straight),
    ).stdout  # fmt: skip
    total = re.search(r"Total Cycles:\s+(\d+)", said)
    bound = re.search(r"Block RThroughput:\s+([\d.]+)", said)
    assert total is not None and bound is not None, said
    return int(total[1]) / ITERATIONS, float(bound[1])


def main() -> None:
    """Prints each loop that is found, the fastest first."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("file", type=Path)
    parser.add_argument("triple")
    parser.add_argument("cpu")
    parser.add_argument("lanes", type=int, choices=REGISTERS)
    asked = parser.parse_args()
    rows = set()
    for body in functions(asked.file, asked.triple):
        for loop in innermost_loops(body):
            if number := columns(loop, asked.lanes):
                cycles, bound = estimate(loop, asked.triple, asked.cpu)
                residues = BUTTERFLIES * number * asked.lanes
                rows.add((number, cycles / residues, bound / residues, len(loop)))
    if not rows:
        sys.exit("no loop with three layers without a reduction: is the library optimised?")
    for number, cycles, bound, length in sorted(rows):
        print(f"{number} columns: {cycles:.3f} cycles a butterfly, at least {bound:.3f}; {length}")


if __name__ == "__main__":
    main()
