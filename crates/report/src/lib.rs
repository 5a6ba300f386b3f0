//! Terminal tables, SVG plots and one-file HTML reports from result documents
