"""The kinds of absl flags that graphtrain.flags is made of: checked when parsed, given once."""

from absl import flags

from graphtrain import checks
from graphtrain.errors import UsageError

# The script that calls a function of graphtrain.flags owns the flags: its --helpshort shows them.
flags.disclaim_key_flags()


class FlagGroup:
    """Defines flags on one FlagValues; a group defined there already is not defined again.

    A flag given twice on a command line is an error: absl would let the last one win.
    """

    def __init__(self, flag_values, *, first_flag):
        """Takes the name of the group's first flag, which must be a number."""
        self._flag_values = flag_values
        self.is_defined = first_flag in flag_values and isinstance(
            flag_values[first_flag].parser, _Parser
        )

    def whole(self, name, default, help_text, *, at_least=1):
        """Defines a whole number, such as a number of steps; 1e4 is one too."""
        parser = _Parser(
            f"a whole number >= {at_least}",
            lambda text: checks.whole(name, as_number(text), at_least=at_least),
        )
        self._define(parser, name, default, help_text)

    def real(self, name, default, help_text, **bounds):
        """Defines a finite number within bounds, as for `checks.real`."""
        parser = _Parser("a number", lambda text: checks.real(name, as_number(text), **bounds))
        self._define(parser, name, default, help_text)

    def numbers(self, name, help_text):
        """Defines a list of numbers between commas."""
        parser = _Parser("numbers between commas", _as_numbers)
        self._define(parser, name, None, help_text, serializer=_CommaSerializer())

    def text(self, name, default, help_text):
        """Defines a text that is not empty."""
        self._define(_Parser("", lambda text: _not_empty(name, text)), name, default, help_text)

    def parsed(self, name, default, kind, parse, help_text):
        """Defines a flag of a kind of its own.

        Args:
          name: the flag.
          default: its value if it is not given.
          kind: what --help calls its values.
          parse: a function from the flag's text to its value, which raises UsageError.
          help_text: what it is for.
        """
        self._define(_Parser(kind, parse), name, default, help_text)

    def choice(self, name, default, choices, help_text):
        """Defines one of several words."""
        flags.DEFINE_enum(
            name, default, choices, help_text, self._flag_values, allow_overwrite=False
        )

    def switch(self, name, default, help_text):
        """Defines a flag that is on by --name and off by --noname."""
        flags.DEFINE_boolean(name, default, help_text, self._flag_values, allow_overwrite=False)

    def check_together(self, names, check):
        """Has `check` called with the values of these flags, in their order, after parsing.

        Args:
          names: the flags.
          check: function of their values that raises UsageError if they do not go together.
        """

        def validate(values):
            try:
                check(*(values[name] for name in names))
            except UsageError as error:
                raise flags.ValidationError(str(error)) from error
            return True

        flags.register_multi_flags_validator(names, validate, flag_values=self._flag_values)

    def _define(self, parser, name, default, help_text, *, serializer=None):
        flags.DEFINE(
            parser,
            name,
            default,
            help_text,
            self._flag_values,
            serializer or flags.ArgumentSerializer(),
            allow_overwrite=False,
        )


class _Parser(flags.ArgumentParser):
    """Parses by a function that raises ValueError (UsageError is one) for a bad value."""

    def __init__(self, syntactic_help, parse):
        super().__init__()
        self.syntactic_help = syntactic_help
        self._parse = parse

    def parse(self, argument):
        """Returns the value of a text (or of a value that is parsed already)."""
        return self._parse(argument)

    def flag_type(self):
        """Says what a value is, for --helpxml."""
        return self.syntactic_help or "string"


class _CommaSerializer(flags.ArgumentSerializer):
    """Writes a list as it is given on a command line."""

    def serialize(self, value):
        return ",".join(map(str, value))


def as_number(text):
    """Returns a text as a number, or as it is if it is none."""
    try:
        return float(text)
    except ValueError:
        return text  # The check that follows quotes it.


def _as_numbers(text):
    values = text.split(",") if isinstance(text, str) else text
    return [float(value) for value in values]


def _not_empty(name, text):
    if not text.strip():
        raise UsageError(f"{name}={text!r} cannot be used: it is empty")
    return text
