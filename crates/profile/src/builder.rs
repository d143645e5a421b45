//! Profiles made in memory.

use gristmill_format::{
    Calls, Cost, CostLine, CostRole, Costs, Error, Header, Line, Name, NameKey, NameStyle, PositionKind,
    Positions, Record, Words, Writer,
};

use crate::input::Input;
use crate::load::Loader;
use crate::profile::Profile;

/// Makes a profile of functions, lines and calls.
///
/// It is written as a file in the Callgrind format and loaded, so it is the same as one from a file, and can be saved
/// as one.
///
/// ```
/// use gristmill_profile::{Builder, Selection};
///
/// let mut builder = Builder::new(&["Ir"]);
/// let main = builder.function(b"mill", b"mill.c", b"main");
/// let grind = builder.function(b"mill", b"stone.c", b"grind");
/// builder.cost(main, 16, &[400]);
/// builder.cost(grind, 50, &[9000]);
/// builder.call(main, 17, grind, 3, &[9000]);
/// let profile = builder.build()?;
/// assert_eq!(profile.totals(&Selection::default()), [9400]);
/// # Ok::<(), gristmill_profile::BuildError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Builder {
    events: Vec<Vec<u8>>,
    headers: Vec<(String, Vec<u8>)>,
    /// Object, file and name.
    functions: Vec<[Vec<u8>; 3]>,
    lines: Vec<Made>,
    costs: Vec<Cost>,
}

/// A function of a [`Builder`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuilderFunction(usize);

/// Something that no file in the Callgrind format can say, as a name with a line end.
pub type BuildError = Error;

#[derive(Debug, Clone)]
struct Made {
    function: usize,
    /// The file of inlined code.
    file: Option<Vec<u8>>,
    line: u64,
    /// Who is called, and how often.
    call: Option<(usize, Cost)>,
    costs: (usize, usize),
}

impl Builder {
    /// A profile with these event types and nothing in it.
    pub fn new(events: &[&str]) -> Self {
        let events = events.iter().map(|event| event.as_bytes().to_vec()).collect();
        Builder { events, ..Builder::default() }
    }

    /// Puts `key: value` into the header: `cmd`, `pid`, `part`, `thread`, `creator`, or something of one's own.
    pub fn header(&mut self, key: &str, value: &[u8]) -> &mut Self {
        self.headers.push((key.to_owned(), value.to_vec()));
        self
    }

    /// A function. One that has the same object, file and name as another is that other.
    pub fn function(&mut self, object: &[u8], file: &[u8], name: &[u8]) -> BuilderFunction {
        self.functions.push([object.to_vec(), file.to_vec(), name.to_vec()]);
        BuilderFunction(self.functions.len() - 1)
    }

    /// Self costs of a line; a missing cost means 0.
    pub fn cost(&mut self, function: BuilderFunction, line: u64, costs: &[Cost]) -> &mut Self {
        self.add(function, None, line, None, costs)
    }

    /// Self costs of a line of another file, that was inlined into the function.
    pub fn inlined(
        &mut self,
        function: BuilderFunction,
        file: &[u8],
        line: u64,
        costs: &[Cost],
    ) -> &mut Self {
        self.add(function, Some(file.to_vec()), line, None, costs)
    }

    /// Calls from a line to another function, with their inclusive costs.
    pub fn call(
        &mut self,
        caller: BuilderFunction,
        line: u64,
        callee: BuilderFunction,
        count: Cost,
        inclusive: &[Cost],
    ) -> &mut Self {
        self.add(caller, None, line, Some((callee.0, count)), inclusive)
    }

    fn add(
        &mut self,
        function: BuilderFunction,
        file: Option<Vec<u8>>,
        line: u64,
        call: Option<(usize, Cost)>,
        costs: &[Cost],
    ) -> &mut Self {
        let start = self.costs.len();
        self.costs.extend_from_slice(costs);
        self.lines.push(Made { function: function.0, file, line, call, costs: (start, self.costs.len()) });
        self
    }

    /// The profile.
    ///
    /// # Errors
    ///
    /// A name or header that cannot be written so that it reads back, or a cost that no file can hold.
    pub fn build(&self) -> Result<Profile, BuildError> {
        let bytes = self.write()?;
        Ok(Loader::new().load(vec![Input { name: String::new(), bytes: bytes.into() }]))
    }

    fn write(&self) -> Result<Vec<u8>, Error> {
        let mut writer = Writer::new(Vec::new()).names(NameStyle::Compressed);
        for (key, value) in &self.headers {
            writer.header(key, value)?;
        }
        writer.position_columns(&[PositionKind::Line])?;
        let events: Vec<&[u8]> = self.events.iter().map(Vec::as_slice).collect();
        writer.write(&Record::new(Line::Header(Header::Events(Words::new(&events)))))?;

        // The lines of a function stand together, in the order in which they came.
        let mut lines: Vec<&Made> = self.lines.iter().collect();
        lines.sort_by_key(|line| line.function);
        let mut current = None;
        for made in lines {
            let Some([object, file, name]) = self.functions.get(made.function) else { continue };
            if current != Some(made.function) {
                current = Some(made.function);
                writer.object(object)?;
                writer.file(file)?;
                writer.function(name)?;
            }
            let costs = self.costs.get(made.costs.0..made.costs.1).unwrap_or_default();
            let mut write = |line| writer.write(&Record::new(line));
            let cost =
                |role| CostLine { role, positions: Positions::new(&[made.line]), costs: Costs::new(costs) };
            match (&made.file, made.call) {
                (Some(inlined), _) => {
                    write(Line::Name(NameKey::Fi, Name::plain(inlined)))?;
                    write(Line::Cost(cost(CostRole::SelfCost)))?;
                    write(Line::Name(NameKey::Fe, Name::plain(file)))?;
                }
                (None, None) => write(Line::Cost(cost(CostRole::SelfCost)))?,
                (None, Some((callee, count))) => {
                    let Some([object, file, name]) = self.functions.get(callee) else { continue };
                    write(Line::Name(NameKey::Cob, Name::plain(object)))?;
                    write(Line::Name(NameKey::Cfi, Name::plain(file)))?;
                    write(Line::Name(NameKey::Cfn, Name::plain(name)))?;
                    write(Line::Calls(Calls { count, target: Positions::new(&[0]) }))?;
                    write(Line::Cost(cost(CostRole::Call)))?;
                }
            }
        }
        writer.finish()
    }
}
