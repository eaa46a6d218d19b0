"""The cases by name, in the order in which the page shows them."""

CASES = {}


def case(name, title):
    """Registers a function that takes the workbench and an empty result, and fills the result."""

    def register(function):
        CASES[name] = (title, function)
        return function

    return register
