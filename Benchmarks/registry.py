"""The cases by name, in the order of the page."""

CASES = {}


def case(name, title):
    """Registers a function that takes the workbench and an empty result, and fills it."""

    def register(function):
        CASES[name] = (title, function)
        return function

    return register
