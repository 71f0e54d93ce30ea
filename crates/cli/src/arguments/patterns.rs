//! `--exclude` and `--include`: their order among each other counts, which derived arguments do not keep.

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use howdah_copy::{Fate, Pattern, Patterns};

const EXCLUDE: &str = "exclude";
const INCLUDE: &str = "include";

const EXCLUDE_HELP: &str = "Skip names that match, and everything below them; may be repeated";

const EXCLUDE_LONG_HELP: &str = "\
Skip names that match, and everything below them; may be repeated

Patterns are as in rsync: * matches any characters except a slash, ** also slashes, ? one character, [a-z] one of a set. A leading \
slash anchors a pattern at the root of the source, a trailing slash matches directories only: '*.o', /cache/, 'logs/**/*.gz'. The \
first --include or --exclude that matches decides; other names are copied.";

const INCLUDE_HELP: &str = "Copy names that match, even if a later --exclude matches them";

/// The patterns, in the order in which they were typed.
#[derive(Debug, Clone, Default)]
pub struct PatternArguments(pub Patterns);

impl Args for PatternArguments {
    fn augment_args(command: Command) -> Command {
        let option = |name: &'static str, help: &'static str| {
            let option = Arg::new(name).long(name).value_name("PATTERN").action(ArgAction::Append);
            option.help(help).help_heading("What is copied").value_parser(parse)
        };
        command
            .arg(option(EXCLUDE, EXCLUDE_HELP).long_help(EXCLUDE_LONG_HELP))
            .arg(option(INCLUDE, INCLUDE_HELP))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for PatternArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let of = |name: &str, fate: Fate| {
            let places = matches.indices_of(name).into_iter().flatten();
            let patterns = matches.get_many::<Pattern>(name).into_iter().flatten();
            places.zip(patterns).map(|(place, pattern)| (place, fate, pattern.clone())).collect::<Vec<_>>()
        };
        let mut typed = [of(EXCLUDE, Fate::Exclude), of(INCLUDE, Fate::Include)].concat();
        typed.sort_by_key(|(place, ..)| *place);
        let mut patterns = Patterns::new();
        typed.into_iter().for_each(|(_, fate, pattern)| patterns.push(fate, pattern));
        Ok(Self(patterns))
    }

    fn update_from_arg_matches(&mut self, _: &ArgMatches) -> Result<(), Error> {
        Err(Error::raw(ErrorKind::InvalidValue, "patterns are given once"))
    }
}

fn parse(text: &str) -> Result<Pattern, howdah_copy::PatternError> {
    Pattern::parse(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use crate::arguments::Command as Subcommand;
    use crate::arguments::Howdah;

    #[test]
    fn the_order_in_which_patterns_are_typed_counts() {
        let excludes = |typed: &str, path: &str| {
            let words = "howdah cp -r".split(' ').chain(typed.split(' ')).chain(["a", "b"]);
            let Subcommand::Cp(arguments) = Howdah::try_parse_from(words).expect(typed).command else {
                panic!("cp")
            };
            arguments.select.patterns.0.excludes(path.as_bytes(), false)
        };
        assert!(
            !excludes("--include *.c --exclude *", "x.c") && excludes("--include *.c --exclude *", "x.o")
        );
        assert!(excludes("--exclude * --include *.c", "x.c"));
        assert!(excludes("--exclude=a --include b --exclude b?", "bc") && !excludes("-v", "a"));
    }
}
