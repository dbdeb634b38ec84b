//! The program: what it was asked for on its command line, until it ends.

use std::{io, process::ExitCode};

use tokio::task::LocalSet;

use crate::{Args, Asked, BadArgs, HELP, Own, greet, run, say, terminal};

/// Runs host-sim as its command line says, with an agent of one's own or with those that are shipped.
pub fn program(own: Option<Own>) -> ExitCode {
    let words = std::env::args_os()
        .skip(1)
        .map(|word| word.into_string().map_err(|word| BadArgs::unknown(&word.to_string_lossy())))
        .collect::<Result<Vec<_>, _>>();
    if let Ok(words) = &words
        && words.first().is_some_and(|word| terminal::is_command(word))
    {
        return talk(words);
    }
    let asked = words.and_then(Args::parse).and_then(|asked| complete(asked, own.as_ref(), environment().as_deref()));
    let outcome = match asked {
        Ok(Asked::Run(args)) => start(&args, own),
        Ok(Asked::Help) => {
            say(format_args!("{}", HELP.trim_end()));
            Ok(())
        }
        Ok(Asked::Version) => {
            say(format_args!("host-sim {}", env!("CARGO_PKG_VERSION")));
            Ok(())
        }
        Err(bad) => {
            eprintln!("host-sim: {bad}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(trouble) => {
            eprintln!("host-sim: {trouble}");
            ExitCode::FAILURE
        }
    }
}

/// Adds what is not on the command line, and looks whether all of it goes with an agent of one's own.
fn complete(asked: Asked, own: Option<&Own>, environment: Option<&str>) -> Result<Asked, BadArgs> {
    match asked {
        Asked::Run(args) if own.is_some() && args.agent.is_some() => Err(BadArgs::OneAgent),
        Asked::Run(args) => Ok(Asked::Run(args.with_keys(environment)?)),
        other => Ok(other),
    }
}

/// What the environment says about who gets in. What is no text is no token, and is refused as such.
fn environment() -> Option<String> {
    std::env::var_os("MOTE_TOKEN").map(|value| value.to_string_lossy().into_owned())
}

/// Talks to an agent, instead of being one.
fn talk(words: &[String]) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("host-sim: cannot wait for the network: {error}");
            return ExitCode::from(3);
        }
    };
    runtime.block_on(async {
        match stop_signal() {
            Ok(stop) => terminal::run(words, environment().as_deref(), stop).await,
            Err(error) => {
                eprintln!("host-sim: cannot wait for Ctrl-C: {error}");
                ExitCode::from(3)
            }
        }
    })
}

fn start(args: &Args, own: Option<Own>) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot wait for the network: {error}"))?;
    LocalSet::new().block_on(&runtime, async {
        let stop = stop_signal().map_err(|error| format!("cannot wait for Ctrl-C: {error}"))?;
        let profile = own.as_ref().map(|own| own.profile);
        let run = run(args, own, |address| greet(args, profile.as_ref(), address), stop);
        run.await.map_err(|error| error.to_string())?;
        say(format_args!("stopped"));
        Ok(())
    })
}

/// Is done when somebody wants us to end: Ctrl-C, or the way that other programs ask. Then it can be waited for again.
#[cfg(unix)]
fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    use core::{future::poll_fn, task::Poll};

    use tokio::signal::unix::{SignalKind, signal};

    let mut signals = [signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?];
    Ok(poll_fn(move |cx| {
        let is_asked = signals.iter_mut().any(|signal| signal.poll_recv(cx).is_ready());
        if is_asked { Poll::Ready(()) } else { Poll::Pending }
    }))
}

/// Is done when somebody wants us to end.
#[cfg(not(unix))]
fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    let asked = async {
        // An error: there is no way to ask us, and we go on for ever.
        if tokio::signal::ctrl_c().await.is_err() {
            core::future::pending::<()>().await;
        }
    };
    // Whoever waits for it again does not wait for something that is over.
    Ok(futures_util::FutureExt::fuse(asked))
}

#[cfg(test)]
mod tests {
    use firmware::agents::conformance::Conformance;

    use super::*;

    #[test]
    fn a_program_with_an_agent_of_its_own_runs_no_other() {
        let own = Own::new(Conformance::PROFILE, |_| Conformance);
        let asked = |words: &[&str]| Args::parse(words.iter().map(|word| (*word).to_owned())).expect("good words");
        assert!(matches!(complete(asked(&["--agent", "sensor"]), None, None), Ok(Asked::Run(_))));
        assert!(matches!(complete(asked(&["--agent", "sensor"]), Some(&own), None), Err(BadArgs::OneAgent)));
        assert!(matches!(complete(asked(&["--preset", "pico"]), Some(&own), None), Ok(Asked::Run(_))));
        // The door is as shut as host-sim's.
        assert!(matches!(complete(asked(&["--bind", "0.0.0.0"]), Some(&own), None), Err(BadArgs::Keys(_))));
    }
}
