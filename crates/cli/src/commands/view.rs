//! `gristmill view`: a profile in the browser.

mod browser;
mod export;
mod files;
mod site;
mod watch;

use std::cell::RefCell;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gristmill_answers::{Request, Session as Answers};
use gristmill_output::json;
use gristmill_profile::Profile;
use gristmill_serve::{Limits, Listener, Options, Page, ServeError, Server};

use self::files::{FileThread, FinderArgs};
use self::watch::{State, Watch};
use crate::args::{SelectionArgs, ViewArgs, is_dash};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::found_files;
use crate::inlined::{sides_with_inlined, with_inlined};
use crate::interrupt;
use crate::load;
use crate::output;
use crate::profile_files::{modified, warn_of_doubts};
use crate::programs::warn_of_unused_maps;
use crate::session::Session;
use crate::terminal::printable_path;

/// The page, as `ui` builds it.
const PAGE: Page = Page {
    document: include_bytes!("../../../../ui/dist/index.html"),
    script: include_bytes!("../../../../ui/dist/app.js"),
    style: include_bytes!("../../../../ui/dist/style.css"),
};

pub(crate) fn run(args: &ViewArgs, session: &Session) -> Result<ExitStatus, CliError> {
    if let Some(directory) = &args.site {
        return site::write(directory, args.force, session);
    }
    let has_standard_input = args.files.iter().chain(&args.base).any(|path| is_dash(path));
    if args.watch && has_standard_input {
        return Err(usage("--watch: standard input cannot be read again", "name a file"));
    }
    let target = match &args.export {
        Some(path) => Some(output::target(Some(path), &args.inputs(), args.force)?),
        None => None,
    };
    let files = found_files::or_newest(&args.files, session)?;
    let loading = Loading { args, files: &files, session, base: RefCell::default() };
    if let Some(question) = &args.answer {
        return answer(question, &loading);
    }
    if let Some(target) = &target {
        return export::write(target, &loading);
    }
    session.copy_files();
    // A wrong port is reported before a large profile is loaded.
    let options = Options {
        address: args.bind,
        port: args.port.unwrap_or(0),
        is_watched: args.watch,
        limits: Limits::default(),
    };
    let listener = Listener::new(&options).map_err(|error| not_served(&error))?;
    let paths = loading.paths()?;
    // The files as they are before they are read: what is written meanwhile is a change.
    let watch = args.watch.then(|| loading.watch(&paths));
    let answers = loading.answers(&paths)?;
    interrupt::set_up();
    let server = Server::on(listener, PAGE, answers).map_err(|error| not_served(&error))?;
    announce(&server, session)?;
    if !args.no_open && browser::has_screen() {
        let address = server.url_for_once().map_err(|error| not_served(&error))?;
        browser::open(&address);
    }
    match watch {
        Some(watch) => watch.forever(|changed| load_again(&loading, &server, changed)),
        None => server.wait(),
    }
    Ok(ExitStatus::Success)
}

/// Prints the answer to one question.
fn answer(question: &str, loading: &Loading<'_>) -> Result<ExitStatus, CliError> {
    let request: Request = serde_json::from_str(question).map_err(|error| {
        usage(
            format!("--answer: this is no question: {error}"),
            r#"a question looks like {"question":{"kind":"overview","limit":10}}; docs/view.md has them all"#,
        )
    })?;
    let answers = loading.answers(&loading.paths()?)?;
    let answer = answers
        .answer(&request, &|| false)
        .map_err(|refusal| CliError::Usage { message: refusal.to_string(), hint: None })?;
    let out = &mut *loading.session.stdout();
    json::write_value(&answer, out)?;
    writeln!(out)?;
    Ok(ExitStatus::Success)
}

/// The files to load, and how.
struct Loading<'l> {
    args: &'l ViewArgs,
    files: &'l [PathBuf],
    session: &'l Session,
    /// The profile to compare with, and the states of its files before they were read.
    base: RefCell<Option<(Vec<State>, Arc<Profile>)>>,
}

impl Loading<'_> {
    /// Returns the files, with `--set` those that are there now.
    fn paths(&self) -> Result<Vec<PathBuf>, CliError> {
        let selection = SelectionArgs { set: self.args.set, ..SelectionArgs::default() };
        Ok(load::refusal::without_base_files(&load::with_sets(self.files, &selection, self.session)?))
    }

    /// Loads the files, with finders of the sources and programs that they name.
    fn answers(&self, paths: &[PathBuf]) -> Result<Answers, CliError> {
        let Loading { args, session, .. } = *self;
        let recorded = self.new_side(paths)?;
        let base = if args.base.is_empty() { None } else { Some(self.base_side()?) };
        let (programs, below) = (&args.program, &args.source.sources_below);
        // What is compared can show fewer inlined functions.
        let compared = match &base {
            Some(base) if args.inlined => {
                let [base, new] = sides_with_inlined([vec![base], vec![&recorded]], programs, below)?;
                base.into_iter().zip(new).next().map(|(base, new)| (Arc::new(base), Arc::new(new)))
            }
            _ => None,
        };
        let profile = with_inlined(recorded, args.inlined, programs, below)?;
        warn_of_unused_maps(&args.program, &[&profile], session);
        let finders = FinderArgs {
            source: args.source.clone(),
            program: args.program.clone(),
            profile_time: paths.iter().filter_map(|path| modified(path)).min(),
            max_size: session.max_size,
        };
        let files = FileThread::start(finders)?;
        let answers = Answers::new(Arc::new(profile), Box::new(files));
        Ok(match (compared, base) {
            (Some((base, new)), _) => answers.with_sides(base, new),
            (None, Some(base)) => answers.with_base(base),
            (None, None) => answers,
        })
    }

    /// Returns the profile to compare with, which is loaded again only if its files have changed.
    fn base_side(&self) -> Result<Arc<Profile>, CliError> {
        let states = watch::states(&self.args.base);
        let mut kept = self.base.borrow_mut();
        if let Some((known, base)) = &*kept
            && *known == states
        {
            return Ok(Arc::clone(base));
        }
        let base = Arc::new(self.profile(&self.args.base)?);
        *kept = Some((states, Arc::clone(&base)));
        Ok(base)
    }

    /// Watches the files of both sides.
    fn watch(&self, paths: &[PathBuf]) -> Watch {
        Watch::new(&[paths, &self.args.base].concat())
    }

    /// Loads the files, and says what speaks against seeing them as one profile.
    fn new_side(&self, paths: &[PathBuf]) -> Result<Profile, CliError> {
        let profile = self.profile(paths)?;
        load::together::check(paths, self.args.set, &profile, self.session);
        Ok(profile)
    }

    /// Loads one side, as it was recorded.
    fn profile(&self, paths: &[PathBuf]) -> Result<Profile, CliError> {
        let profile = load::profile_of(paths, self.session)?;
        warn_of_doubts(&profile, self.session);
        Ok(profile)
    }
}

/// Loads the files again. If that fails, the server keeps what it has. Returns the files that are watched from then on.
fn load_again(loading: &Loading<'_>, server: &Server, changed: &Path) -> Option<Watch> {
    let session = loading.session;
    let load = || -> Result<_, CliError> {
        let paths = loading.paths()?;
        let watch = loading.watch(&paths);
        Ok((loading.answers(&paths)?, watch))
    };
    match load() {
        Ok((answers, watch)) => {
            server.replace(answers);
            session.tell(&format!("{} has changed and was loaded again", printable_path(changed)));
            Some(watch)
        }
        Err(error) => {
            session.report(&error);
            server.tell_failure(error.to_string());
            None
        }
    }
}

/// Prints the address, and how to open it from another machine.
fn announce(server: &Server, session: &Session) -> Result<(), CliError> {
    writeln!(session.stdout(), "{}", server.url())?;
    session.flush()?;
    let address = server.address();
    let port = address.port();
    if !address.ip().is_loopback() {
        session.warn(&format!(
            "{} can be reached from other machines: whoever has the token can read the profile and the sources that it \
             names, and nothing is encrypted",
            at(address)
        ));
    }
    let host = server.host();
    session.tell(&format!(
        "open this address; from another machine, first run there: ssh -L {port}:{host}:{port} HOST"
    ));
    session.tell("Ctrl-C ends it");
    Ok(())
}

/// The address for a message.
fn at(address: SocketAddr) -> String {
    match address.ip().is_unspecified() {
        true => format!("port {} of each address of this machine", address.port()),
        false => address.to_string(),
    }
}

fn not_served(error: &ServeError) -> CliError {
    CliError::Usage {
        message: error.to_string(),
        hint: match error {
            ServeError::PortInUse(_) => {
                Some("choose another one with --port, or leave it out for one that is free".to_owned())
            }
            ServeError::NoPermission(address) if address.port() < 1024 => {
                Some("ports below 1024 are for the administrator; choose another one with --port".to_owned())
            }
            ServeError::NoSuchAddress(_) => {
                Some("leave --bind out, or use 0.0.0.0 for all addresses".to_owned())
            }
            _ => None,
        },
    }
}

fn usage(message: impl Into<String>, hint: &str) -> CliError {
    CliError::Usage { message: message.into(), hint: Some(hint.to_owned()) }
}
