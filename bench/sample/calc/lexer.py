"""lexer.py - text into tokens."""
import collections

Token = collections.namedtuple("Token", "kind text position")

SYMBOLS = "+-*/^(),="
NUMBER, NAME, SYMBOL, END = "number", "name", "symbol", "end"


class CalcError(Exception):
    """What is wrong with a line, and where."""

    def __init__(self, message, position):
        super().__init__(message)
        self.message = message
        self.position = position


def take_while(text, start, accepts):
    """The end of the run of characters that are accepted."""
    end = start
    while end < len(text) and accepts(text[end]):
        end += 1
    return end


def is_digit(character):
    return character.isdigit() or character == "."


def is_letter(character):
    return character.isalnum() or character == "_"


def next_token(text, position):
    character = text[position]
    if is_digit(character):
        end = take_while(text, position, is_digit)
        return Token(NUMBER, text[position:end], position)
    if is_letter(character):
        end = take_while(text, position, is_letter)
        return Token(NAME, text[position:end], position)
    if character in SYMBOLS:
        return Token(SYMBOL, character, position)
    raise CalcError(f"unexpected {character!r}", position)


def tokens_of(text):
    """All tokens, and one that marks the end."""
    tokens, position = [], 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        token = next_token(text, position)
        tokens.append(token)
        position += len(token.text)
    return [*tokens, Token(END, "", len(text))]
