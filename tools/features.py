"""Whether every step of `make test` compiles the same dependencies with the same features.

Exit code 1 where the command line, the benchmarks or the Python package alone would compile a
dependency that the whole workspace compiles with other features. The remedy is a line in
`crates/windlass-features/Cargo.toml`.
"""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAMS = ["windlass-cli", "windlass-bench", "windlass-py"]


def features(*selection: str) -> set[str]:
    """Each package that is compiled, as its name, version and features."""
    command = [os.environ.get("CARGO", "cargo"), "tree", "--locked", "--prefix", "none"]
    command += ["--format", "{p} with {f}", *selection]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return {line.removesuffix(" (*)") for line in listing.splitlines() if line}


def main() -> int:
    """Compare each program with the workspace."""
    whole = features("--workspace", "--exclude", "windlass-wasm", "--edges", "normal,build,dev")
    extra = {
        program: features("--package", program, "--edges", "normal,build") - whole
        for program in PROGRAMS
    }
    for program, packages in extra.items():
        for package in sorted(packages):
            print(f"{program} alone compiles {package}", file=sys.stderr)
    if any(extra.values()):
        print("add the missing features to crates/windlass-features/Cargo.toml", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
