//! The help of `recover`, whole: what an operator reads before anything else.

use clap::CommandFactory;

// The command line is described in one file that names nothing of the program around it, so that this test
// and the program read the same one.
#[allow(dead_code, reason = "only the help is looked at here")]
#[path = "../recovery-core/src/bin/recover/arguments.rs"]
mod arguments;

/// The help of the program and of each command, as `--help` prints them.
fn help() -> String {
    let mut program = arguments::Arguments::command();
    program.build();
    let mut pages = vec![format!("$ recover --help\n{}", program.render_long_help())];
    for command in program.get_subcommands_mut() {
        let name = command.get_name().to_owned();
        pages.push(format!("$ recover {name} --help\n{}", command.render_long_help()));
    }
    let text = pages.join("\n\n");
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_help_of_recover() {
    crate::check("help-recover", &help());
}
