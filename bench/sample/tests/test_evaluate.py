"""What lines are worth."""
from calc import Scope, calculate


def test_names_are_kept():
    scope = Scope()
    calculate("x = 3", scope)
    assert calculate("x * x", scope) == "9"


def test_an_unknown_name_is_told():
    assert calculate("y + 1") == "y + 1\n^ y is not known"


def test_functions_take_arguments():
    assert calculate("max(1, 2, sqrt(16))") == "4"


def test_division_by_zero_is_told():
    assert calculate("8 / 0") == "8 / 0\n  ^ division by zero"
