//! Types of TypeScript from a JSON schema, laid out as prettier does.
//!
//! A schema says more than a type can, such as limits of numbers; that is left out. What it says of the shape of a value is in the
//! type, or the generator fails: a keyword that it does not know would be an answer that the page takes for another.

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::{Map, Value};

use crate::failure::{Context as _, Failure};

/// Columns of a line.
const WIDTH: usize = 110;
/// Elements of a list of fixed length that are spelled out.
const MAX_TUPLE: u64 = 8;
/// The beginning of a reference to a definition.
const DEFINITIONS: &str = "#/$defs/";
/// The definition that stands for the same with other rows: `List2` is a list of other rows than `List`.
const GENERIC: &str = "List";

/// Keywords that say nothing about the shape of a value.
const WITHOUT_SHAPE: [&str; 12] = [
    "$schema",
    "default",
    "description",
    "examples",
    "format",
    "maxItems",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "pattern",
    "title",
];

/// Makes the types of all definitions of a schema. `names` are pairs of a definition and the name of its type.
pub(super) fn types(schema: &Value, names: &[(&str, &str)]) -> Result<String, Failure> {
    let definitions = schema.get("$defs").and_then(Value::as_object).context_none("$defs")?;
    let generator = Generator {
        definitions,
        names: names.iter().copied().collect(),
        link: Regex::new(r"\[(`?)([^\]`]+)`?\](?:\([^)]*\))?")
            .context(|| "the pattern of links".to_owned())?,
    };
    for (definition, _) in names {
        if !definitions.contains_key(*definition) {
            return Err(Failure::new(format!("there is no definition {definition} to give another name")));
        }
    }
    let mut blocks = Vec::new();
    for (name, definition) in definitions {
        if is_generic(name) && name != GENERIC {
            continue;
        }
        let block = generator.definition(name, definition);
        blocks.push((generator.name(name).to_owned(), block.map_err(|error| error.within(name))?));
    }
    blocks.sort();
    let same = blocks.windows(2).find(|pair| pair[0].0 == pair[1].0);
    if let Some(pair) = same {
        return Err(Failure::new(format!("two types have the name {}", pair[0].0)));
    }
    Ok(blocks.into_iter().map(|(_, block)| block).collect::<Vec<_>>().join("\n"))
}

/// A failure at a place in the schema.
trait Within {
    fn within(self, place: &str) -> Failure;
}

impl Within for Failure {
    fn within(self, place: &str) -> Failure {
        Failure::new(format!("{place}: {self}"))
    }
}

/// An absent keyword as a failure.
trait ContextNone<T> {
    fn context_none(self, keyword: &str) -> Result<T, Failure>;
}

impl<T> ContextNone<T> for Option<T> {
    fn context_none(self, keyword: &str) -> Result<T, Failure> {
        self.ok_or_else(|| Failure::new(format!("the schema has no {keyword}")))
    }
}

/// `true` for the generic definition and its variants.
fn is_generic(name: &str) -> bool {
    name.strip_prefix(GENERIC).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
}

struct Generator<'s> {
    definitions: &'s Map<String, Value>,
    names: BTreeMap<&'s str, &'s str>,
    link: Regex,
}

/// A type, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Type {
    /// A word, or what needs no parentheses.
    Plain(String),
    /// One of several.
    Union(Vec<Type>),
    /// All of several.
    Intersection(Vec<Type>),
    Object(Vec<Member>),
    List(Box<Type>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Member {
    name: String,
    is_optional: bool,
    about: String,
    of: Type,
}

impl Generator<'_> {
    /// The name of the type of a definition.
    fn name<'n>(&'n self, definition: &'n str) -> &'n str {
        self.names.get(definition).copied().unwrap_or(definition)
    }

    fn definition(&self, name: &str, schema: &Value) -> Result<String, Failure> {
        let about = self.about(schema);
        let mut text = comment(&about, 0);
        let of = self.of(schema)?;
        if name == GENERIC {
            let Type::Object(mut members) = of else {
                return Err(Failure::new(format!("{GENERIC} is no object")));
            };
            for member in members.iter_mut().filter(|member| matches!(member.of, Type::List(_))) {
                member.of = Type::List(Box::new(Type::Plain("T".to_owned())));
            }
            text += &format!("export interface {GENERIC}<T> {}\n", Type::Object(members).laid_out(0));
            return Ok(text);
        }
        let name = self.name(name);
        text += &match &of {
            Type::Object(_) => format!("export interface {name} {}\n", of.laid_out(0)),
            _ => {
                let start = format!("export type {name} =");
                format!("{start}{};\n", of.behind(&start, 0))
            }
        };
        Ok(text)
    }

    /// The type of a value that fits a schema.
    fn of(&self, schema: &Value) -> Result<Type, Failure> {
        let object = match schema {
            Value::Bool(true) => return Ok(Type::Plain("unknown".to_owned())),
            Value::Object(object) => object,
            _ => return Err(Failure::new("a schema is neither an object nor true")),
        };
        let known = ["$ref", "additionalProperties", "allOf", "anyOf", "const", "enum", "items", "oneOf"];
        let known = [&known[..], &["prefixItems", "properties", "required", "type"], &WITHOUT_SHAPE].concat();
        if let Some(keyword) = object.keys().find(|keyword| !known.contains(&keyword.as_str())) {
            return Err(Failure::new(format!("the keyword {keyword} is not known")));
        }
        let mut all = Vec::new();
        if let Some(reference) = object.get("$ref") {
            all.push(self.reference(reference)?);
        }
        for keyword in ["oneOf", "anyOf"] {
            if let Some(schemas) = object.get(keyword) {
                all.push(union(self.each(schemas)?));
            }
        }
        if let Some(schemas) = object.get("allOf") {
            all.extend(self.each(schemas)?);
        }
        if let Some(value) = object.get("const") {
            all.push(literal(value)?);
        } else if let Some(values) = object.get("enum") {
            let values = values.as_array().context_none("list of values")?;
            all.push(union(values.iter().map(literal).collect::<Result<_, _>>()?));
        } else if object.contains_key("properties") || object.contains_key("type") {
            // Beside alternatives, the type repeats what these say.
            let repeats = !all.is_empty() && !object.contains_key("properties");
            if !repeats {
                all.push(self.by_type(object)?);
            }
        }
        match all.len() {
            0 => Ok(Type::Plain("unknown".to_owned())),
            1 => Ok(all.remove(0)),
            _ => Ok(Type::Intersection(all)),
        }
    }

    fn each(&self, schemas: &Value) -> Result<Vec<Type>, Failure> {
        schemas.as_array().context_none("list of schemas")?.iter().map(|schema| self.of(schema)).collect()
    }

    fn reference(&self, reference: &Value) -> Result<Type, Failure> {
        let name = reference.as_str().and_then(|it| it.strip_prefix(DEFINITIONS));
        let name = name.context_none("definition in a reference")?;
        let definition = self.definitions.get(name).context_none(name)?;
        if !is_generic(name) {
            return Ok(Type::Plain(self.name(name).to_owned()));
        }
        let rows = definition.pointer("/properties/rows/items").context_none("rows of a list")?;
        let rows = self.of(rows)?.on_one_line();
        Ok(Type::Plain(format!("{GENERIC}<{rows}>")))
    }

    fn by_type(&self, object: &Map<String, Value>) -> Result<Type, Failure> {
        let names: Vec<&str> = match object.get("type") {
            None => vec!["object"],
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            Some(other) => return Err(Failure::new(format!("the type is {other}"))),
        };
        let of = |name: &&str| match *name {
            "object" => self.object(object),
            "array" => self.list(object),
            "string" | "boolean" | "null" => Ok(Type::Plain((*name).to_owned())),
            "integer" | "number" => Ok(Type::Plain("number".to_owned())),
            other => Err(Failure::new(format!("the type {other} is not known"))),
        };
        Ok(union(names.iter().map(of).collect::<Result<_, _>>()?))
    }

    fn list(&self, object: &Map<String, Value>) -> Result<Type, Failure> {
        if let Some(items) = object.get("prefixItems") {
            let items: Vec<String> = self.each(items)?.iter().map(Type::on_one_line).collect();
            return Ok(Type::Plain(format!("[{}]", items.join(", "))));
        }
        let item =
            object.get("items").map_or(Ok(Type::Plain("unknown".to_owned())), |items| self.of(items))?;
        let limit = |keyword: &str| object.get(keyword).and_then(Value::as_u64);
        match (limit("minItems"), limit("maxItems")) {
            (Some(least), Some(most)) if least == most && most <= MAX_TUPLE => {
                let items: Vec<String> = (0..most).map(|_| item.on_one_line()).collect();
                Ok(Type::Plain(format!("[{}]", items.join(", "))))
            }
            _ => Ok(Type::List(Box::new(item))),
        }
    }

    fn object(&self, object: &Map<String, Value>) -> Result<Type, Failure> {
        let required: Vec<&str> = match object.get("required") {
            None => Vec::new(),
            Some(names) => {
                names.as_array().context_none("list of names")?.iter().filter_map(Value::as_str).collect()
            }
        };
        let mut all = Vec::new();
        if let Some(properties) = object.get("properties") {
            let mut members = Vec::new();
            for (name, schema) in properties.as_object().context_none("members")? {
                members.push(Member {
                    name: name.clone(),
                    is_optional: !required.contains(&name.as_str()),
                    about: self.about(schema),
                    of: self.of(schema).map_err(|error| error.within(name))?,
                });
            }
            // What a value is, is read first.
            members.sort_by_key(|member| member.name != "kind");
            all.push(Type::Object(members));
        }
        match object.get("additionalProperties") {
            None | Some(Value::Bool(_)) => {}
            Some(values) => {
                all.push(Type::Plain(format!("Record<string, {}>", self.of(values)?.on_one_line())));
            }
        }
        match all.len() {
            0 => Ok(Type::Plain("Record<string, unknown>".to_owned())),
            1 => Ok(all.remove(0)),
            _ => Ok(Type::Intersection(all)),
        }
    }

    /// The description, on one line, without links and what would end a comment.
    fn about(&self, schema: &Value) -> String {
        let text = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        let text = self.link.replace_all(text, "$1$2$1").replace("*/", "* /");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

fn literal(value: &Value) -> Result<Type, Failure> {
    match value {
        Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {
            Ok(Type::Plain(value.to_string()))
        }
        _ => Err(Failure::new(format!("{value} is no value of a literal type"))),
    }
}

/// One of these, each once, without a union in a union. `null` comes last.
fn union(types: Vec<Type>) -> Type {
    let mut flat = Vec::new();
    for one in types {
        match one {
            Type::Union(inner) => flat.extend(inner),
            other => flat.push(other),
        }
    }
    let mut different: Vec<Type> = Vec::new();
    for one in flat {
        if !different.contains(&one) {
            different.push(one);
        }
    }
    different.sort_by_key(|one| *one == Type::Plain("null".to_owned()));
    if different.len() == 1 { different.remove(0) } else { Type::Union(different) }
}

impl Type {
    /// The text on one line.
    fn on_one_line(&self) -> String {
        let joined = |types: &[Type], by: &str| {
            let part = |one: &Type| match one {
                Type::Union(_) | Type::Intersection(_) => format!("({})", one.on_one_line()),
                _ => one.on_one_line(),
            };
            types.iter().map(part).collect::<Vec<_>>().join(by)
        };
        match self {
            Type::Plain(text) => text.clone(),
            Type::Union(types) => joined(types, " | "),
            Type::Intersection(types) => joined(types, " & "),
            Type::List(item) => match **item {
                Type::Union(_) | Type::Intersection(_) => format!("({})[]", item.on_one_line()),
                _ => format!("{}[]", item.on_one_line()),
            },
            Type::Object(members) => {
                let member = |member: &Member| format!("{}{}", member.head(), member.of.on_one_line());
                format!("{{ {} }}", members.iter().map(member).collect::<Vec<_>>().join("; "))
            }
        }
    }

    /// `true` if the text has an object with members of their own lines.
    fn has_object(&self) -> bool {
        match self {
            Type::Object(_) => true,
            Type::Plain(_) => false,
            Type::List(item) => item.has_object(),
            Type::Union(types) | Type::Intersection(types) => types.iter().any(Type::has_object),
        }
    }

    /// The text on as many lines as it needs; `indent` is that of the line where it begins.
    fn laid_out(&self, indent: usize) -> String {
        match self {
            Type::Object(members) => {
                let members: String = members.iter().map(|member| member.laid_out(indent + 2)).collect();
                format!("{{\n{members}{}}}", " ".repeat(indent))
            }
            Type::List(item) if item.has_object() => match **item {
                Type::Object(_) => format!("{}[]", item.laid_out(indent)),
                _ => format!("({})[]", item.laid_out(indent)),
            },
            Type::Intersection(types) if self.has_object() => {
                types.iter().map(|one| one.laid_out(indent)).collect::<Vec<_>>().join(" & ")
            }
            _ => self.on_one_line(),
        }
    }

    /// The text behind the start of a line, with the blank or the line end before it.
    fn behind(&self, start: &str, indent: usize) -> String {
        let is_long = |text: &str| start.len() + text.len() + 2 > WIDTH;
        match self {
            Type::Union(types) if self.has_object() || is_long(&self.on_one_line()) => {
                // A single object beside null stays on the line.
                let margin = " ".repeat(indent + 2);
                types.iter().map(|one| format!("\n{margin}| {}", one.laid_out(indent + 4))).collect()
            }
            _ => format!(" {}", self.laid_out(indent)),
        }
    }
}

impl Member {
    /// The name and the colon, with a blank.
    fn head(&self) -> String {
        format!("{}: ", self.name_and_mark())
    }

    fn name_and_mark(&self) -> String {
        let is_identifier =
            self.name.bytes().enumerate().all(|(at, byte)| {
                byte == b'_' || byte.is_ascii_alphabetic() || at > 0 && byte.is_ascii_digit()
            });
        let name = if is_identifier { self.name.clone() } else { format!("{:?}", self.name) };
        if self.is_optional { name + "?" } else { name }
    }

    /// The member on lines of its own, with its description.
    fn laid_out(&self, indent: usize) -> String {
        let start = format!("{}{}:", " ".repeat(indent), self.name_and_mark());
        format!("{}{start}{};\n", comment(&self.about, indent), self.of.behind(&start, indent))
    }
}

/// A comment before a type or member; nothing without a text.
fn comment(text: &str, indent: usize) -> String {
    let margin = " ".repeat(indent);
    if text.is_empty() {
        return String::new();
    }
    if indent + text.len() + "/**  */".len() <= WIDTH {
        return format!("{margin}/** {text} */\n");
    }
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let width = lines.last().map_or(0, |line| line.chars().count()) + word.chars().count();
        if indent + " * ".len() + width + 1 > WIDTH {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
    }
    let lines: String = lines.iter().map(|line| format!("{margin} * {line}\n")).collect();
    format!("{margin}/**\n{lines}{margin} */\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(definitions: Value) -> String {
        types(&json!({"$defs": definitions}), &[]).unwrap()
    }

    fn fault(definitions: Value) -> String {
        types(&json!({"$defs": definitions}), &[]).unwrap_err().to_string()
    }

    /// Everything that the schemas of answers have.
    #[test]
    fn schemas_become_types() {
        let schema = json!({"$defs": {
            "Exact": {
                "description": "A number or a text.",
                "anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": "x"}]
            },
            "Costs": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Exact"}},
            "Sort": {"description": "An order. See [`Rows`](crate::Rows).", "oneOf": [
                {"const": "name", "type": "string", "description": "By name."},
                {"const": "cost", "type": "string"}
            ]},
            "List": {"description": "A list.", "type": "object", "required": ["all", "rows"], "properties": {
                "all": {"type": "integer"}, "rows": {"type": "array", "items": {"$ref": "#/$defs/Row"}}
            }},
            "List2": {"type": "object", "properties": {
                "all": {"type": "integer"}, "rows": {"type": "array", "items": {"type": "string"}}
            }},
            "Row": {"description": "A row.", "type": "object", "additionalProperties": false,
                "required": ["name", "self", "points", "cycle", "is-odd", "whole"], "properties": {
                "name": {"description": "A name that */ ends\nno comment.", "type": "string"},
                "self": {"$ref": "#/$defs/Costs", "description": "Self cost."},
                "cycle": {"type": ["integer", "null"]},
                "points": {"type": "array", "items": {
                    "type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2
                }},
                "rest": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/List2"}]},
                "state": {"type": "string", "enum": ["same", "other"]},
                "is-odd": {"type": "boolean"},
                "any": true,
                "whole": {"anyOf": [{"type": "object", "properties": {"a": {"type": "null"}}}, {"type": "null"}]}
            }},
            "Question": {"oneOf": [
                {"type": "object", "required": ["kind"], "properties": {"kind": {"const": "all"}}},
                {"type": "object", "required": ["a", "kind"], "properties": {
                    "a": {"type": "integer", "description": "A number."}, "kind": {"const": "one"}
                }}
            ]}
        }});
        let expected = r#"export type Costs = Record<string, Exact>;

/** A number or a text. */
export type Exact = number | string;

/** A list. */
export interface List<T> {
  all: number;
  rows: T[];
}

export type Question =
  | {
      kind: "all";
    }
  | {
      kind: "one";
      /** A number. */
      a: number;
    };

/** A row. */
export interface TableRow {
  any?: unknown;
  cycle: number | null;
  "is-odd": boolean;
  /** A name that * / ends no comment. */
  name: string;
  points: [number, number][];
  rest?: List<string> | null;
  /** Self cost. */
  self: Costs;
  state?: "same" | "other";
  whole:
    | {
        a?: null;
      }
    | null;
}

/** An order. See `Rows`. */
export type TableSort = "name" | "cost";
"#;
        let names = [("Row", "TableRow"), ("Sort", "TableSort")];
        let written = types(&schema, &names).unwrap();
        assert!(written == expected, "{written}");
    }

    #[test]
    fn long_unions_and_comments_have_several_lines() {
        let values: Vec<String> = (0..20).map(|nth| format!("value-{nth}")).collect();
        let text = of(json!({"Long": {"enum": values, "description": "word ".repeat(40)}}));
        assert!(text.starts_with("/**\n * word word"), "{text}");
        assert!(text.contains("export type Long =\n  | \"value-0\"\n  | \"value-1\"\n"), "{text}");
        assert!(text.ends_with("  | \"value-19\";\n"), "{text}");
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
    }

    #[test]
    fn members_beside_alternatives_are_an_intersection() {
        let text = of(json!({"Both": {
            "type": "object",
            "properties": {"a": {"type": "string"}},
            "oneOf": [{"$ref": "#/$defs/Other"}],
            "allOf": [{"type": "object", "additionalProperties": {"type": "number"}}]
        }, "Other": {"type": "array", "items": {"type": ["string", "number"]}}}));
        let expected = "export type Both = Other & Record<string, number> & {\n  a?: string;\n};\n\nexport type Other = \
                        (string | number)[];\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn schemas_that_are_not_understood_fail() {
        for (definitions, expected) in [
            (json!({"A": {"not": {}}}), "A: the keyword not is not known"),
            (json!({"A": {"properties": {"b": {"if": {}}}}}), "A: b: the keyword if is not known"),
            (json!({"A": {"type": "date"}}), "A: the type date is not known"),
            (json!({"A": {"$ref": "#/$defs/B"}}), "A: the schema has no B"),
            (json!({"A": {"const": []}}), "A: [] is no value of a literal type"),
            (json!({"A": false}), "A: a schema is neither an object nor true"),
        ] {
            assert_eq!(fault(definitions), expected);
        }
        let schema = json!({"$defs": {"A": {"type": "null"}, "B": {"type": "null"}}});
        let clash = types(&schema, &[("A", "B")]).unwrap_err().to_string();
        assert_eq!(clash, "two types have the name B");
        let gone = types(&schema, &[("C", "D")]).unwrap_err().to_string();
        assert_eq!(gone, "there is no definition C to give another name");
    }
}
