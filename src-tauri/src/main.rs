//! The program `offshoot`. It draws nothing itself and is not linked with what draws: see `offshoot-window`.

fn main() -> std::process::ExitCode {
    offshoot::main()
}
