//! Negative numbers as values of options.

use std::ffi::OsString;

use clap::{Command, Parser};

/// The arguments of a program. A negative number after an option is its value, so that one that is not
/// allowed is refused as such and not as an option of its own; no option of ours is a number.
///
/// # Errors
/// As [`Parser::try_parse_from`].
pub fn parse_from<P, T>(arguments: impl IntoIterator<Item = T>) -> Result<P, clap::Error>
where
    P: Parser,
    T: Into<OsString> + Clone,
{
    let mut command = with_negative_numbers(P::command());
    let mut matches = command.try_get_matches_from_mut(arguments)?;
    P::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

fn with_negative_numbers(command: Command) -> Command {
    let options = command.mut_args(|option| {
        let takes = option.get_long().is_some() && option.get_action().takes_values();
        if takes && !option.is_allow_hyphen_values_set() { option.allow_negative_numbers(true) } else { option }
    });
    options.mut_subcommands(with_negative_numbers)
}

#[cfg(test)]
mod tests {
    use clap::error::ErrorKind;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[arg(long, global = true)]
        rows: Option<u32>,
        #[command(subcommand)]
        step: Option<Step>,
    }

    #[derive(Debug, clap::Subcommand)]
    enum Step {
        Go {
            #[arg(long)]
            by: f64,
        },
    }

    #[test]
    fn negative_numbers_are_values() {
        let parse = |line: &str| parse_from::<Line, _>(line.split(' '));
        match parse("line go --by -1.5").unwrap().step {
            Some(Step::Go { by }) => assert_eq!(by, -1.5),
            None => panic!("there is a step"),
        }
        for line in ["line --rows -3", "line go --by 1 --rows -3"] {
            let refused = parse(line).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::ValueValidation, "{refused}");
            assert!(refused.to_string().contains("'-3' for '--rows <ROWS>'"), "{refused}");
        }
        assert_eq!(parse("line -3").unwrap_err().kind(), ErrorKind::UnknownArgument);
    }
}
