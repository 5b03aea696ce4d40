//! `rowcast import --create`: a table whose columns and types are read off a CSV file.

use std::io::{BufRead, IsTerminal, Write};
use std::sync::Arc;

use anyhow::{anyhow, bail, ensure};
use engine::database::Database;
use engine::exec::{self, Answer, Spooled};
use treeql::encode::Format;
use treeql::error::Error;
use treeql::policy::Policy;
use treeql::remodel::{AskedColumn, AskedTable, Remodel, Shown, create_table, drop_table};
use treeql::request::{
    Cell, Fields, Operation, Piece, Request, Values, Window, is_integer, is_numeric, read_fields,
};
use treeql::schema::ColumnType;
use treeql::sql::SchemaChange;

use crate::transfer::options::ImportOptions;
use crate::transfer::session::told;

/// Bytes that are read at once.
const WINDOW: usize = 256 * 1024;
/// What a key is called, if the file has one.
const KEY: &str = "id";
/// The types that are tried, the narrowest first; what is none of them is text.
const TYPES: [ColumnType; 6] = [
    ColumnType::Boolean,
    ColumnType::Bigint,
    ColumnType::Double,
    ColumnType::Date,
    ColumnType::Time,
    ColumnType::Timestamp,
];

/// Characters of a number that a double keeps, with its point and its exponent.
const DIGITS_MAX: usize = 16;

/// What has been seen of a column.
struct Seen {
    name: String,
    /// Which of [`TYPES`] all values have so far.
    fits: [bool; TYPES.len()],
    has_null: bool,
    has_value: bool,
}

/// Shows the table that the file describes, asks whether it is to be, and makes it. A dry run only shows it.
pub async fn create(
    database: &Arc<Database>,
    spooled: &Spooled,
    options: &ImportOptions,
) -> anyhow::Result<()> {
    let snapshot = database.snapshot();
    ensure!(
        snapshot.schema.find(&options.table).is_none(),
        "there is a table '{}' already; leave out --create",
        options.table
    );
    let seen = read(spooled, options)?;
    let columns: Vec<AskedColumn> = seen.iter().map(Seen::asked).collect();
    let mut out = std::io::stderr().lock();
    writeln!(out, "{}", options.table)?;
    for column in &columns {
        let name = column.name.as_deref().unwrap_or_default();
        let kind = column.kind.map(ColumnType::name).unwrap_or_default();
        let key = if column.is_key == Some(true) { ", primary key" } else { "" };
        let null = if column.nullable == Some(true) { ", may be NULL" } else { "" };
        writeln!(out, "  {name}: {kind}{key}{null}")?;
    }
    if options.is_dry_run {
        return Ok(());
    }
    if !options.is_agreed {
        ensure!(std::io::stdin().is_terminal(), "say --yes to create this table");
        write!(out, "Create this table? [y/N] ")?;
        out.flush()?;
        let mut answer = String::new();
        std::io::stdin().lock().read_line(&mut answer)?;
        ensure!(answer.trim().eq_ignore_ascii_case("y"), "nothing was done");
    }
    let asked = AskedTable { name: Some(options.table.clone()), columns: Some(columns) };
    change(database, |remodel| create_table(remodel, asked)).await
}

/// What an import that failed says, after the table that was created for it has been removed; a table with rows stays.
pub async fn take_back(database: &Arc<Database>, table: &str, failure: anyhow::Error) -> anyhow::Error {
    let removed = match is_empty(database, table).await {
        Ok(true) => change(database, |remodel| drop_table(remodel, table)).await,
        Ok(false) => Err(anyhow!("it has rows")),
        Err(error) => Err(error),
    };
    let then = match removed {
        Ok(()) => "was removed again".to_owned(),
        Err(error) => format!("was not removed: {error:#}"),
    };
    anyhow!("{failure:#}; the table '{table}' that was created for it {then}")
}

async fn is_empty(database: &Arc<Database>, table: &str) -> anyhow::Result<bool> {
    let snapshot = database.snapshot();
    let values = Values { limit: Some(1), ..Values::default() };
    let mut request = Request::new(Operation::List, table);
    request.window = Window::of(values.limit, values.offset);
    let plan = snapshot.plan(&request, &Arc::new(Policy::default())).map_err(|error| told(&error))?;
    match exec::list(&snapshot, &plan, values, Format::Ndjson).await.map_err(|error| told(&error))? {
        Answer::Whole(lines) => Ok(lines.is_empty()),
        Answer::Stream(..) => Ok(false),
    }
}

/// Makes a change of the schema; the operator may do everything.
async fn change(
    database: &Arc<Database>,
    plan: impl FnOnce(Remodel<'_>) -> Result<SchemaChange, Error>,
) -> anyhow::Result<()> {
    let snapshot = database.snapshot();
    let policy = Policy::default();
    let setting = snapshot.setting;
    let shown = Shown {
        schema: &snapshot.schema,
        policy: &policy,
        mode: setting.mode,
        operation: Operation::Remodel,
    };
    let publication = &database.options().publication;
    let remodel = Remodel { shown, dialect: setting.dialect, publication };
    let change = plan(remodel).map_err(|error| told(&error))?;
    exec::remodel(database, change).await.map_err(|error| told(&error))
}

/// Looks at all records, so that no value is met later that does not fit.
fn read(spooled: &Spooled, options: &ImportOptions) -> anyhow::Result<Vec<Seen>> {
    let (mut buffer, mut at, mut offset, mut is_end) = (Vec::new(), 0, 0u64, false);
    let mut fields = Fields::default();
    let mut seen: Vec<Seen> = Vec::new();
    let mut record = 0u64;
    loop {
        match read_fields(&buffer[at..], is_end, &mut fields) {
            Piece::Record { used, .. } => {
                record += 1;
                let start = &buffer[at..];
                let is_blank = fields.len() == 1 && seen.len() > 1;
                if seen.is_empty() {
                    seen = header(&fields, start, options)?;
                } else if !is_blank {
                    ensure!(
                        fields.len() == seen.len(),
                        "record {record} has {} fields, but the first has {}",
                        fields.len(),
                        seen.len()
                    );
                    for (index, column) in seen.iter_mut().enumerate() {
                        column.see(&fields.cell(index, start).map_err(anyhow::Error::msg)?);
                    }
                }
                at += used;
            }
            Piece::Blank(used) => at += used,
            Piece::Malformed(sentence, _) => bail!("record {} {sentence}", record + 1),
            Piece::End => break,
            Piece::Incomplete => {
                buffer.drain(..at);
                let count = spooled.read(offset, WINDOW, &mut buffer)?;
                at = if offset == 0 && buffer.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
                offset += count as u64;
                is_end = count == 0;
            }
        }
    }
    ensure!(!seen.is_empty(), "the file is empty; its first line has the names of the columns");
    Ok(seen)
}

fn header(fields: &Fields, buffer: &[u8], options: &ImportOptions) -> anyhow::Result<Vec<Seen>> {
    let name = |index| match fields.cell(index, buffer).map_err(anyhow::Error::msg)? {
        Cell::Text(name) => Ok(options.names.get(&*name).cloned().unwrap_or_else(|| name.into_owned())),
        _ => bail!("field {} of the first line has no name", index + 1),
    };
    let seen = |name| Seen { name, fits: [true; TYPES.len()], has_null: false, has_value: false };
    (0..fields.len()).map(|index| name(index).map(seen)).collect()
}

impl Seen {
    fn see(&mut self, cell: &Cell<'_>) {
        let Cell::Text(text) = cell else {
            self.has_null = true;
            return;
        };
        self.has_value = true;
        for (fits, kind) in self.fits.iter_mut().zip(TYPES) {
            *fits = *fits && is_value_of(text, kind);
        }
    }

    fn asked(&self) -> AskedColumn {
        let kind = TYPES.iter().zip(self.fits).find(|(_, fits)| *fits && self.has_value);
        let kind = kind.map_or(ColumnType::Clob, |(kind, _)| *kind);
        let is_key = self.name == KEY && kind == ColumnType::Bigint && !self.has_null;
        AskedColumn {
            name: Some(self.name.clone()),
            kind: Some(kind),
            nullable: Some(!is_key),
            is_key: Some(is_key),
            ..AskedColumn::default()
        }
    }
}

/// Whether a text is a value of a type that would be the same when it is read again: `007` is no number.
fn is_value_of(text: &str, kind: ColumnType) -> bool {
    let has_shape = |text: &str, shape: &str| {
        text.len() == shape.len()
            && text.bytes().zip(shape.bytes()).all(|(byte, wanted)| match wanted {
                b'0' => byte.is_ascii_digit(),
                _ => byte == wanted,
            })
    };
    let is_date = |text: &str| {
        has_shape(text, "0000-00-00")
            && ("01".."13").contains(&&text[5..7])
            && ("01".."32").contains(&&text[8..])
    };
    let is_time =
        |text: &str| has_shape(text, "00:00:00") && text < "24" && &text[3..5] < "60" && &text[6..] < "60";
    match kind {
        ColumnType::Boolean => matches!(text, "true" | "false"),
        ColumnType::Bigint => is_integer(text) && text.parse::<i64>().is_ok(),
        ColumnType::Double => {
            let digits = text.trim_start_matches('-');
            let has_zeros = digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0.");
            is_numeric(text) && !text.contains(' ') && !has_zeros && digits.len() <= DIGITS_MAX
        }
        ColumnType::Date => is_date(text),
        ColumnType::Time => is_time(text),
        ColumnType::Timestamp => text.split_once(' ').is_some_and(|(date, time)| {
            let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
            is_date(date)
                && is_time(time)
                && fraction.len() <= 6
                && fraction.bytes().all(|b| b.is_ascii_digit())
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use treeql::schema::ColumnType;

    use crate::transfer::create::{TYPES, is_value_of};

    #[test]
    fn the_narrowest_type_is_taken() {
        for (text, kind) in [
            ("true", Some(ColumnType::Boolean)),
            ("-7", Some(ColumnType::Bigint)),
            ("9223372036854775808", None),
            ("1.5", Some(ColumnType::Double)),
            ("007", None),
            ("0.5", Some(ColumnType::Double)),
            ("2024-02-29", Some(ColumnType::Date)),
            ("2024-13-01", None),
            ("23:59:59", Some(ColumnType::Time)),
            ("24:00:00", None),
            ("2024-02-29 23:59:59.5", Some(ColumnType::Timestamp)),
            ("seven", None),
        ] {
            assert_eq!(TYPES.into_iter().find(|kind| is_value_of(text, *kind)), kind, "{text}");
        }
    }
}
