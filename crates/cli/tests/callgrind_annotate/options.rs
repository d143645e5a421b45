//! The options of the runs: every option alone, and useful combinations.

/// One way to call it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Options {
    pub(crate) arguments: Vec<String>,
    /// Source files to annotate.
    pub(crate) sources: Vec<String>,
}

impl Options {
    pub(crate) fn of(arguments: &str) -> Options {
        Options {
            arguments: arguments.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect(),
            sources: Vec::new(),
        }
    }

    fn value(&self, name: &str) -> Option<&str> {
        let mut values = self.arguments.iter().filter_map(|argument| argument.strip_prefix(name));
        values.next_back().and_then(|value| value.strip_prefix('='))
    }

    pub(crate) fn is_inclusive(&self) -> bool {
        self.value("--inclusive") == Some("yes")
    }

    pub(crate) fn has_tree(&self) -> bool {
        self.value("--tree").is_some_and(|tree| tree != "none")
    }

    /// The event types that are sorted by, as places among these.
    pub(crate) fn sorted_by(&self, events: &[String]) -> Vec<usize> {
        let Some(sort) = self.value("--sort") else { return (0..events.len()).collect() };
        let names = sort.split(',').filter_map(|event| event.split(':').next());
        names.filter_map(|name| events.iter().position(|event| event == name)).collect()
    }

    /// Returns `true` if files are annotated without being named.
    pub(crate) fn annotates(&self) -> bool {
        self.value("--auto") != Some("no")
    }

    pub(crate) fn has_percentages(&self) -> bool {
        self.value("--show-percs") != Some("no")
    }

    pub(crate) fn without_tree(&self) -> Options {
        self.without(&["--tree"])
    }

    /// Returns the options with all functions listed.
    pub(crate) fn with_everything(&self) -> Options {
        let mut options = self.without(&["--threshold", "--sort", "--auto"]);
        options.arguments.extend(["--threshold=100".to_owned(), "--auto=no".to_owned()]);
        options
    }

    /// Returns the options with only these event types, which also sort.
    pub(crate) fn with_events(&self, events: &[String]) -> Options {
        let mut options = self.clone();
        for name in ["--show", "--sort"] {
            if self.value(name).is_none() {
                options.arguments.push(format!("{name}={}", events.join(",")));
            }
        }
        options
    }

    fn without(&self, names: &[&str]) -> Options {
        let keeps = |argument: &&String| !names.iter().any(|name| argument.starts_with(name));
        Options {
            arguments: self.arguments.iter().filter(keeps).cloned().collect(),
            sources: self.sources.clone(),
        }
    }

    /// Returns the options that annotate all files in the same way.
    pub(crate) fn for_sources(&self) -> Options {
        let Options { mut arguments, sources } =
            self.without(&["--tree", "--inclusive", "--threshold", "--sort"]);
        if let Some(sort) = self.value("--sort") {
            let events: Vec<&str> = sort.split(',').filter_map(|event| event.split(':').next()).collect();
            arguments.push(format!("--sort={}", events.join(",")));
        }
        arguments.push("--threshold=100".to_owned());
        Options { arguments, sources }
    }
}

/// All ways, for a file with these event types. `sources` are two source files of the profile.
pub(crate) fn matrix(events: &[String], sources: [&str; 2]) -> Vec<Options> {
    let first = events.first().map_or("Ir", String::as_str);
    let last = events.last().map_or("Ir", String::as_str);
    let middle = events.get(events.len() / 2).map_or("Ir", String::as_str);
    let backwards = events.iter().rev().map(String::as_str).collect::<Vec<_>>().join(",");
    let mut all: Vec<Options> = [
        // Each alone.
        "".to_owned(),
        format!("--show={last}"),
        format!("--show={backwards}"),
        "--show=Nothing".to_owned(),
        format!("--sort={last}"),
        format!("--sort={backwards}"),
        format!("--sort={first}:50"),
        format!("--sort={last}:99,{first}:20"),
        "--sort=Nothing".to_owned(),
        "--threshold=0".to_owned(),
        "--threshold=50".to_owned(),
        "--threshold=80%".to_owned(),
        "--threshold=99.9".to_owned(),
        "--threshold=100".to_owned(),
        "--threshold=101".to_owned(),
        "--show-percs=no".to_owned(),
        "--show-percs=yes".to_owned(),
        "--auto=no".to_owned(),
        "--auto=yes".to_owned(),
        "--context=0".to_owned(),
        "--context=2".to_owned(),
        "--context=30".to_owned(),
        "--inclusive=yes".to_owned(),
        "--inclusive=no".to_owned(),
        "--tree=none".to_owned(),
        "--tree=caller".to_owned(),
        "--tree=calling".to_owned(),
        "--tree=both".to_owned(),
        "-I=root".to_owned(),
        "--include=root".to_owned(),
        "--nothing-of-the-kind".to_owned(),
        // Together.
        "--inclusive=yes --tree=both".to_owned(),
        "--inclusive=yes --tree=caller --threshold=100".to_owned(),
        "--inclusive=yes --tree=calling --threshold=60 --auto=no".to_owned(),
        "--inclusive=yes --threshold=100 --show-percs=no -I=root".to_owned(),
        format!("--inclusive=yes --sort={last} --threshold=90"),
        "--tree=both --threshold=100 --show-percs=no --auto=no".to_owned(),
        format!("--tree=calling --sort={middle} --show={middle},{first} -I=root"),
        "-I=root --threshold=100".to_owned(),
        "-I=root --threshold=100 --context=0 --show-percs=no".to_owned(),
        "-I=root --include=root/srv/demo/ --context=1 --threshold=100".to_owned(),
        format!("-I=root --show={middle} --sort={last} --context=3"),
        format!("--show={first} --sort={backwards} --threshold=40 --auto=no"),
        format!("--sort={last}:70,{middle}:30,{first}:99 --show={backwards} -I=root"),
    ]
    .iter()
    .map(|arguments| Options::of(arguments))
    .collect();
    let [one, other] = sources;
    for (arguments, sources) in [
        ("-I=root", vec![one]),
        ("-I=root --auto=no", vec![one, other]),
        ("-I=root --auto=no --threshold=100 --inclusive=yes --tree=both", vec![other]),
        ("-I=root", vec!["unrelated.c", one]),
        ("--auto=no", vec!["nowhere.c"]),
    ] {
        let sources = sources.into_iter().map(str::to_owned).collect();
        all.push(Options { sources, ..Options::of(arguments) });
    }
    all
}
