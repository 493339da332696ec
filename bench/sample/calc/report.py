"""report.py - numbers and errors as people read them."""


def format_number(value):
    """Without a fraction where there is none."""
    if value == int(value):
        return str(int(value))
    return str(value)


def format_error(text, error):
    """The line, a mark below the place, and what is wrong there."""
    return f"{text}\n{' ' * error.position}^ {error.message}"
