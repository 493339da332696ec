"""evaluate.py - a tree into a number."""
import math

from calc.lexer import CalcError

OPERATORS = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
             "/": lambda a, b: a / b, "^": lambda a, b: a ** b}
FUNCTIONS = {"max": max, "min": min, "sqrt": math.sqrt, "abs": abs}


class Scope:
    """The names that were assigned."""

    def __init__(self, values=None):
        self.values = {"pi": math.pi, **(values or {})}

    def get(self, token):
        if token.text not in self.values:
            raise CalcError(f"{token.text} is not known", token.position)
        return self.values[token.text]

    def set(self, name, value):
        self.values[name] = value
        return value


def call(token, arguments):
    function = FUNCTIONS.get(token.text)
    if not function:
        raise CalcError(f"{token.text}() is not known", token.position)
    try:
        return function(*arguments)
    except (TypeError, ValueError) as error:
        raise CalcError(f"{token.text}(): {error}", token.position) from None


def binary(operator, left, right):
    return OPERATORS[operator.text](left, right)


def evaluate(tree, scope):
    kind, *rest = tree
    if kind == "number":
        return rest[0]
    if kind == "name":
        return scope.get(rest[0])
    if kind == "assign":
        return scope.set(rest[0], evaluate(rest[1], scope))
    if kind == "negate":
        return -evaluate(rest[0], scope)
    if kind == "call":
        return call(rest[0], [evaluate(argument, scope) for argument in rest[1]])
    return binary(rest[0], evaluate(rest[1], scope), evaluate(rest[2], scope))
