//! The report as one HTML file that needs nothing else: it can be mailed, and read without a network.

use super::markup::escape;
use super::{Cell, Figure, Report, Table, Unit, number, svg};
use std::fmt::Write;

const TITLE: &str = "Simple yet effective gradient-free graph convolution: the paper, run again";

/// The page: remarks, tables that can be sorted, figures, in light and dark.
///
/// It links to the files that [`write`](super::write::write) puts beside it.
pub fn page(report: &Report) -> String {
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{TITLE}</title>\n<link rel=\"icon\" href=\"data:,\">\n\
         <style>\n{}{}</style>\n<script>\n{}</script>\n</head>\n<body>\n",
        svg::style(),
        include_str!("page.css"),
        include_str!("page.js"),
    );
    header(&mut html, report);
    contents(&mut html, report);
    html.push_str("<main id=\"main\">\n");
    for table in &report.tables {
        table_section(&mut html, table);
    }
    for figure in &report.figures {
        figure_section(&mut html, figure);
    }
    html.push_str("</main>\n</body>\n</html>\n");
    html
}

fn header(html: &mut String, report: &Report) {
    let _ = write!(
        html,
        "<a class=\"skip\" href=\"#main\">Skip to the results</a>\n<header>\n<div class=\"bar\">\
         <h1>{TITLE}</h1>\n<button id=\"theme\" type=\"button\" hidden>Dark</button></div>\n"
    );
    if !report.remarks.is_empty() {
        html.push_str("<section class=\"remarks\" aria-label=\"Remarks\">\n");
        list(html, &report.remarks);
        html.push_str("</section>\n");
    }
    html.push_str("<section class=\"about\" aria-label=\"About\">\n");
    list(html, &report.about);
    html.push_str(
        "<p>All numbers: <a href=\"report.json\">report.json</a></p>\n</section>\n</header>\n",
    );
}

fn list(html: &mut String, lines: &[String]) {
    html.push_str("<ul>\n");
    for line in lines {
        let _ = writeln!(html, "<li>{}</li>", escape(line));
    }
    html.push_str("</ul>\n");
}

fn contents(html: &mut String, report: &Report) {
    html.push_str("<nav aria-label=\"Contents\">\n<h2>Contents</h2>\n");
    let tables = report.tables.iter().map(|t| ("table", &t.id, &t.title));
    let figures = report.figures.iter().map(|f| ("figure", &f.id, &f.title));
    for (heading, entries) in
        [("Tables", tables.collect::<Vec<_>>()), ("Figures", figures.collect())]
    {
        if entries.is_empty() {
            continue;
        }
        let _ = write!(html, "<h3>{heading}</h3>\n<ol>\n");
        for (kind, id, title) in entries {
            let (id, title) = (escape(id), escape(title));
            let _ = writeln!(html, "<li><a href=\"#{kind}-{id}\">{title}</a></li>");
        }
        html.push_str("</ol>\n");
    }
    html.push_str("</nav>\n");
}

fn table_section(html: &mut String, table: &Table) {
    let (id, title) = (escape(&table.id), escape(&table.title));
    let _ = writeln!(html, "<section id=\"table-{id}\">\n<h2>{title}</h2>");
    paragraph(html, &table.text);
    key(html, table.unit);
    // The box can be scrolled with the keyboard, so it takes the focus and has a name.
    let _ = write!(
        html,
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{title}\">\n<table>\n\
         <thead><tr>{}",
        column_heading(&table.rows_are, "ascending")
    );
    let best_first = match table.unit {
        Unit::Percent => "descending",
        Unit::Seconds | Unit::Points => "ascending",
    };
    for column in &table.columns {
        html.push_str(&column_heading(column, best_first));
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    let nothing = Cell::default();
    for row in &table.rows {
        let name = escape(&row.name);
        let _ = write!(html, "<tr><th scope=\"row\" data-value=\"{name}\">{name}</th>");
        for column in 0..table.columns.len() {
            cell(html, table.unit, row.cells.get(column).unwrap_or(&nothing));
        }
        html.push_str("</tr>\n");
    }
    let _ = writeln!(
        html,
        "</tbody>\n</table>\n</div>\n<p class=\"files\">This table: \
         <a href=\"tables/{id}.csv\">CSV</a> <a href=\"tables/{id}.md\">Markdown</a></p>\n</section>"
    );
}

fn paragraph(html: &mut String, text: &str) {
    if !text.is_empty() {
        let _ = writeln!(html, "<p>{}</p>", escape(text));
    }
}

/// What the cells of a table mean.
fn key(html: &mut String, unit: Unit) {
    let _ = writeln!(
        html,
        "<p class=\"key\">{}. Ours as mean ± standard error; beneath it the published value and the \
         difference, <span class=\"better\">better</span> or <span class=\"worse\">worse</span> than \
         published. A dash: not run. <b class=\"best\">Best</b> and <span class=\"second\">second best</span> of each \
         column.</p>",
        number::unit(unit)
    );
}

/// A heading with a button, which takes the keyboard as it is.
fn column_heading(name: &str, first: &str) -> String {
    let name = escape(name);
    format!(
        "<th scope=\"col\" aria-sort=\"none\" data-first=\"{first}\"><button type=\"button\">{name}\
         </button></th>"
    )
}

fn cell(html: &mut String, unit: Unit, cell: &Cell) {
    let measured = number::measured(unit, cell);
    match cell.ours.filter(|ours| ours.mean.is_finite()) {
        Some(ours) => {
            let plural = if cell.runs == 1 { "" } else { "s" };
            let (mean, runs) = (ours.mean, cell.runs);
            let _ = write!(html, "<td data-value=\"{mean}\" title=\"{runs} run{plural}\">");
        }
        None => html.push_str("<td>"),
    }
    let _ = match cell.rank {
        _ if measured.is_empty() => write!(html, "<span class=\"none\">–</span>"),
        Some(1) => write!(html, "<b class=\"best\">{measured}</b>"),
        Some(2) => write!(html, "<span class=\"second\">{measured}</span>"),
        _ => write!(html, "{measured}"),
    };
    if let Some(published) = cell.published {
        let published = number::published(unit, published);
        let _ = write!(
            html,
            "<small><span class=\"hidden\">published </span>{published}{}</small>",
            cell.difference().map_or(String::new(), |value| difference(unit, value))
        );
    }
    html.push_str("</td>");
}

/// The sign is written, so that the colour only repeats it.
fn difference(unit: Unit, value: f64) -> String {
    let (text, sign) = number::difference(unit, value);
    let class = match (unit, sign) {
        (_, 0) => "same",
        (Unit::Percent, 1..) | (Unit::Seconds | Unit::Points, ..0) => "better",
        _ => "worse",
    };
    format!(" <span class=\"{class}\">{text}</span>")
}

fn figure_section(html: &mut String, figure: &Figure) {
    let (id, title) = (escape(&figure.id), escape(&figure.title));
    let _ = writeln!(html, "<section id=\"figure-{id}\">\n<h2>{title}</h2>");
    paragraph(html, &figure.text);
    let _ = writeln!(
        html,
        "<figure aria-label=\"{title}\">\n{}</figure>\n<p class=\"files\">This figure: \
         <a href=\"figures/{id}.svg\">SVG</a></p>\n</section>",
        svg::panels(figure)
    );
}
