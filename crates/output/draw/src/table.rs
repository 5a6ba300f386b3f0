//! Rows and columns.

/// A table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, each with a cell for every column.
    pub rows: Vec<Row>,
    /// What a terminal shows in place of the rows behind the first few; `None` where it shows all.
    pub rest: Option<Rest>,
    /// Whether a terminal leaves room for marks even where no row has one: tables below each other
    /// stay in line.
    pub has_marks: bool,
    /// Whether a terminal breaks no cell but those of [`Align::Text`] columns, and keeps columns
    /// close.
    pub is_tight: bool,
}

/// One column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// What it is.
    pub heading: String,
    /// How its cells stand.
    pub align: Align,
    /// Whether only a browser has room for it.
    pub is_wide: bool,
}

/// How the cells of a column stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// To the right.
    Number,
    /// To the left, on one line where there is room.
    Words,
    /// To the left, never broken.
    Name,
    /// To the left, broken at spaces.
    Text,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Row {
    /// Its cells.
    pub cells: Vec<Cell>,
    /// Whether it stands out.
    pub standing: Standing,
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cell {
    /// What is in it.
    pub text: String,
    /// Whether it stands out.
    pub is_strong: bool,
    /// Where it leads in a browser.
    pub link: Option<String>,
}

/// Whether a row is the one to use, or does not count for what it shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Standing {
    /// As most.
    #[default]
    Other,
    /// The one to use.
    Chosen,
    /// It differs from what it is compared with.
    Differs,
    /// It counts for less.
    Less,
    /// It does not count.
    Aside,
}

/// The row that stands for those that are not shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Rest {
    /// How many rows are shown before it.
    pub shown: usize,
    /// Its cells.
    pub cells: Vec<Cell>,
}

impl Standing {
    /// Of the chosen row, or another.
    pub fn chosen(is_chosen: bool) -> Self {
        match is_chosen {
            true => Standing::Chosen,
            false => Standing::Other,
        }
    }

    /// What stands in front of the row in a terminal.
    pub fn mark(self) -> &'static str {
        match self {
            Standing::Other => "",
            Standing::Chosen => ">",
            Standing::Differs => "*",
            Standing::Less => "<",
            Standing::Aside => "x",
        }
    }
}

impl Column {
    /// One of numbers.
    pub fn number(heading: impl Into<String>) -> Self {
        Column::new(heading, Align::Number)
    }

    /// One of words.
    pub fn words(heading: impl Into<String>) -> Self {
        Column::new(heading, Align::Words)
    }

    /// One of names that are never broken.
    pub fn name(heading: impl Into<String>) -> Self {
        Column::new(heading, Align::Name)
    }

    /// One of sentences.
    pub fn text(heading: impl Into<String>) -> Self {
        Column::new(heading, Align::Text)
    }

    fn new(heading: impl Into<String>, align: Align) -> Self {
        Column {
            heading: heading.into(),
            align,
            is_wide: false,
        }
    }

    /// The same for a browser alone.
    pub fn wide(self) -> Self {
        Column {
            is_wide: true,
            ..self
        }
    }
}

impl Table {
    /// A table of all `rows`.
    pub fn new(
        columns: impl IntoIterator<Item = Column>,
        rows: impl IntoIterator<Item = Row>,
    ) -> Self {
        Table {
            columns: columns.into_iter().collect(),
            rows: rows.into_iter().collect(),
            ..Table::default()
        }
    }

    /// The same; of more than `most` rows a terminal shows all but one as they are, and `rest` for
    /// the others. `rest` is given how many rows stand before it.
    pub fn shortened(self, most: usize, rest: impl FnOnce(usize) -> Vec<Cell>) -> Self {
        let shown = most.saturating_sub(1);
        let rest = (self.rows.len() > most).then(|| Rest {
            shown,
            cells: rest(shown),
        });
        Table { rest, ..self }
    }

    /// The same, tight.
    pub fn tight(self) -> Self {
        Table {
            is_tight: true,
            ..self
        }
    }

    /// The same with room for marks.
    pub fn marked(self) -> Self {
        Table {
            has_marks: true,
            ..self
        }
    }

    /// Whether a terminal needs room for marks.
    pub fn is_marked(&self) -> bool {
        let mut rows = self.rows.iter();
        self.has_marks || rows.any(|row| row.standing != Standing::Other)
    }
}

impl Row {
    /// A row of `cells`.
    pub fn new<T: Into<Cell>>(cells: impl IntoIterator<Item = T>) -> Self {
        Row {
            cells: cells.into_iter().map(Into::into).collect(),
            standing: Standing::Other,
        }
    }

    /// The same with another standing.
    pub fn standing(self, standing: Standing) -> Self {
        Row { standing, ..self }
    }
}

impl Cell {
    /// One that leads somewhere in a browser.
    pub fn link(text: impl Into<String>, to: impl Into<String>) -> Self {
        Cell {
            text: text.into(),
            link: Some(to.into()),
            ..Cell::default()
        }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Cell {
            text: text.into(),
            ..Cell::default()
        }
    }
}
