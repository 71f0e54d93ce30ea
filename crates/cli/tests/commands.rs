//! What people see: the help of every subcommand, and `howdah check` on good and bad files. The cases are data in
//! `tests/cmd`; `TRYCMD=overwrite cargo test -p howdah` writes down what holds now.

#[test]
fn commands_say_what_is_written_down() {
    trycmd::TestCases::new()
        // Help is as wide as the terminal; in a test, always the same.
        .env("COLUMNS", "100")
        .case("tests/cmd/*.trycmd");
}
