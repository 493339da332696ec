#!/usr/bin/env python3
"""Writes src/base/unicode_table.h from the files of the Unicode Character Database, which Debian
has in its package unicode-data.

    scripts/unicode_table.py >src/base/unicode_table.h
    scripts/unicode_table.py --check src/base/unicode_table.h

A row of the table is where a range of characters begins, and what they have in common: how they
join in a grapheme cluster (UAX 29), how many columns a terminal gives them, and whether the variation
selector 16 makes a wide picture of them. Hangul syllables are one range: which of them end in a
consonant is counted (base/grapheme.c)."""

import os
import sys

FOLDER = "/usr/share/unicode"
BREAKS = ["Other", "CR", "LF", "Control", "Extend", "ZWJ", "Regional_Indicator", "Prepend",
          "SpacingMark", "L", "V", "T", "Syllable", "Pictographic"]
CONJUNCTS = ["None", "Consonant", "Linker", "Extend"]
# Blocks where every new character is a picture of two columns.
PICTURE_BLOCKS = [(0x1F300, 0x1F64F), (0x1F680, 0x1F6FF), (0x1F7E0, 0x1F7FF), (0x1F900, 0x1F9FF),
                  (0x1FA70, 0x1FAFF)]
# Scripts whose consonants join over a virama (GB9c).
CONJUNCT_SCRIPTS = {"Bengali", "Devanagari", "Gujarati", "Malayalam", "Oriya", "Telugu"}
N_CHARACTERS = 0x110000
BLOCK = 0x100
N_BLOCKS = 0x200  # all that is in use but ideographs, tags and selectors
SOFT_HYPHEN = 0xAD
ZERO_WIDTH_NON_JOINER = 0x200C


def rows(name):
    """The first character, the last and the value of each line."""
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        for line in file:
            fields = [field.strip() for field in line.split("#")[0].split(";")]
            if len(fields) >= 2:
                first, _, last = fields[0].partition("..")
                yield int(first, 16), int(last or first, 16), fields[1]


def values(name, default):
    found = [default] * N_CHARACTERS
    for first, last, value in rows(name):
        found[first:last + 1] = [value] * (last + 1 - first)
    return found


def having(name, wanted):
    return {c for first, last, value in rows(name) if value == wanted
            for c in range(first, last + 1)}


def read_version():
    with open(os.path.join(FOLDER, "auxiliary/GraphemeBreakProperty.txt"),
              encoding="utf-8") as file:
        return file.readline().split("-")[1].rsplit(".", 1)[0]


def find_conjuncts(breaks):
    """Indic_Conjunct_Break, as Unicode 16 derives it."""
    scripts = values("Scripts.txt", "Unknown")
    syllables = values("IndicSyllabicCategory.txt", "Other")
    found = ["None"] * N_CHARACTERS
    for c in range(N_CHARACTERS):
        if scripts[c] in CONJUNCT_SCRIPTS and syllables[c] == "Virama":
            found[c] = "Linker"
        elif scripts[c] in CONJUNCT_SCRIPTS and syllables[c] == "Consonant":
            found[c] = "Consonant"
        elif breaks[c] in ("ZWJ", "Extend") and c != ZERO_WIDTH_NON_JOINER:
            found[c] = "Extend"
    return found


def find_widths():
    categories = values("extracted/DerivedGeneralCategory.txt", "Cn")
    wide = values("EastAsianWidth.txt", "N")
    ignorable = having("DerivedCoreProperties.txt", "Default_Ignorable_Code_Point")
    visible = having("PropList.txt", "Prepended_Concatenation_Mark") | {SOFT_HYPHEN}
    pictures = having("emoji/emoji-data.txt", "Extended_Pictographic")
    found = [1] * N_CHARACTERS
    for c in range(N_CHARACTERS):
        is_new = categories[c] == "Cn"
        if categories[c] in ("Mn", "Me", "Cf") and c not in visible or is_new and c in ignorable:
            found[c] = 0
        elif wide[c] in ("W", "F") or is_new and c in pictures and any(
                first <= c <= last for first, last in PICTURE_BLOCKS):
            found[c] = 2
    return found


def find_breaks():
    found = values("auxiliary/GraphemeBreakProperty.txt", "Other")
    for c in having("emoji/emoji-data.txt", "Extended_Pictographic"):
        if found[c] != "Other":
            sys.exit(f"U+{c:04X} is a picture and {found[c]}")
        found[c] = "Pictographic"
    return ["Syllable" if value in ("LV", "LVT") else value for value in found]


def make_rows():
    breaks = find_breaks()
    conjuncts = find_conjuncts(breaks)
    widths = find_widths()
    emoji = having("emoji/emoji-data.txt", "Emoji")
    last = None
    for c in range(N_CHARACTERS):
        value = (BREAKS.index(breaks[c]) | widths[c] << 4 | CONJUNCTS.index(conjuncts[c]) << 6 |
                 (c in emoji) << 8)
        if value != last:
            yield c, value
            last = value


def find_blocks(rows_):
    """The row that each block begins in."""
    last = 0
    for block in range(N_BLOCKS + 1):
        while last + 1 < len(rows_) and rows_[last + 1][0] <= block * BLOCK:
            last += 1
        yield last


def lines_of(numbers, n_a_line):
    numbers = list(numbers)
    return "\n    ".join(" ".join(numbers[i:i + n_a_line])
                         for i in range(0, len(numbers), n_a_line))


def make_header():
    version = read_version()
    table = list(make_rows())
    return f"""/* unicode_table.h - what characters are, in ranges; made by scripts/unicode_table.py from Unicode
 * {version}. The first character of a range << 9 | is emoji << 8 | conjunct << 6 | columns << 4 |
 * join, with the values of base/grapheme.c. */
#ifndef KEEL_BASE_UNICODE_TABLE_H
#define KEEL_BASE_UNICODE_TABLE_H

#include <stdint.h>

/* clang-format off */
static const uint32_t unicode_table[] = {{
    {lines_of((f"0x{first << 9 | value:08X}," for first, value in table), 8)}
}};

/* Where the characters of a block begin, up to the one after the last; behind it are those above. */
#define UNICODE_BLOCK 0x{BLOCK:X}u
#define UNICODE_N_BLOCKS 0x{N_BLOCKS:X}u
static const uint16_t unicode_blocks[] = {{
    {lines_of((f"{row}," for row in find_blocks(table)), 15)}
}};
/* clang-format on */

#endif
"""


def check(path):
    with open(path, encoding="utf-8") as file:
        present = file.read()
    if not os.path.isdir(FOLDER):
        print(f"SKIPPED: {FOLDER} is missing (package unicode-data)")
        return 77
    if f" {read_version()}. " not in present:
        print(f"SKIPPED: {path} is made from another version than {read_version()} in {FOLDER}")
        return 77
    if make_header() != present:
        print(f"{path} is not what scripts/unicode_table.py makes; make it again")
        return 1
    return 0


if sys.argv[1:2] == ["--check"]:
    sys.exit(check(sys.argv[2]))
sys.stdout.write(make_header())
