"""What binds how."""
from calc import calculate


def check(text, expected):
    found = calculate(text)
    assert found == expected, f"{text}: {found}, not {expected}"


def test_multiplication_binds_tighter_than_addition():
    check("2 + 3 * 4", "14")


def test_parentheses_bind_tightest():
    check("(2 + 3) * 4", "20")


def test_subtraction_goes_from_the_left():
    check("10 - 4 - 3", "3")


def test_powers_go_from_the_right():
    check("2 ^ 3 ^ 2", "512")


def test_a_missing_parenthesis_is_told():
    check("(1 + 2", "(1 + 2\n      ^ expected ')', found 'the end'")
