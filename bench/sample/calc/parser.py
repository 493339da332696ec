"""parser.py - tokens into a tree of tuples, by recursive descent (docs/grammar.md)."""
from calc.lexer import END, NAME, NUMBER, CalcError, tokens_of


class Parser:
    """Looks at one token at a time and never goes back."""

    def __init__(self, tokens):
        self.tokens = tokens
        self.at = 0

    @property
    def token(self):
        return self.tokens[self.at]

    def advance(self):
        token = self.token
        self.at += 1
        return token

    def accept(self, *texts):
        """The token if it is one of these, and it is passed over."""
        if self.token.kind not in (NAME, NUMBER, END) and self.token.text in texts:
            return self.advance()
        return None

    def expect(self, text):
        if not self.accept(text):
            found = self.token.text or "the end"
            raise CalcError(f"expected {text!r}, found {found!r}", self.token.position)

    def line(self):
        is_assignment = (self.token.kind == NAME and self.tokens[self.at + 1].text == "=")
        if not is_assignment:
            return self.expression()
        name = self.advance()
        self.expect("=")
        return ("assign", name.text, self.expression())

    def expression(self):
        left = self.term()
        while operator := self.accept("+", "-"):
            left = ("binary", operator, left, self.term())
        return left

    def term(self):
        left = self.power()
        while operator := self.accept("*", "/"):
            left = ("binary", operator, left, self.power())
        return left

    def power(self):
        left = self.prefix()
        while operator := self.accept("^"):
            left = ("binary", operator, left, self.prefix())
        return left

    def prefix(self):
        if self.accept("-"):
            return ("negate", self.prefix())
        return self.primary()

    def arguments(self):
        arguments = []
        if self.accept(")"):
            return arguments
        while True:
            arguments.append(self.expression())
            if not self.accept(","):
                break
        self.expect(")")
        return arguments

    def primary(self):
        token = self.advance()
        if token.kind == NUMBER:
            return ("number", float(token.text))
        if token.kind == NAME:
            return ("call", token, self.arguments()) if self.accept("(") else ("name", token)
        if token.text == "(":
            inner = self.expression()
            self.expect(")")
            return inner
        raise CalcError(f"unexpected {token.text or 'end'!r}", token.position)


def parse(text):
    parser = Parser(tokens_of(text))
    tree = parser.line()
    if parser.token.kind != END:
        raise CalcError(f"unexpected {parser.token.text!r}", parser.token.position)
    return tree
