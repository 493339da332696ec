"""calc - evaluates arithmetic."""
from calc.evaluate import Scope, evaluate
from calc.lexer import CalcError
from calc.parser import parse
from calc.report import format_error, format_number

__all__ = ["CalcError", "Scope", "calculate", "evaluate", "parse"]


def calculate(text, scope=None):
    """The text of the result, or of the error."""
    try:
        return format_number(evaluate(parse(text), scope or Scope()))
    except CalcError as error:
        return format_error(text, error)
