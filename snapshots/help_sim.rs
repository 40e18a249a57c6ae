//! The help of `sim`, whole: what somebody who tries to break the core reads first.

use clap::CommandFactory;
use sim::cli::Cli;

/// The help of the program and of each command, as `--help` prints them.
fn help() -> String {
    let mut program = Cli::command();
    program.build();
    let mut pages = vec![format!("$ sim --help\n{}", program.render_long_help())];
    for command in program.get_subcommands_mut() {
        let name = command.get_name().to_owned();
        pages.push(format!("$ sim {name} --help\n{}", command.render_long_help()));
    }
    let text = pages.join("\n\n");
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_help_of_sim() {
    crate::check("help-sim", &help());
}
