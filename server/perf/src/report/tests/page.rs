//! The page.

use roxmltree::{Document, ParsingOptions};

use crate::report::html;

use super::scenes;

const SVG_NEEDS_NO_NAMESPACE_IN_HTML: &str = "http://www.w3.org/1999/xhtml";

/// Parses a page as XML; panics with the place if it is none.
pub(super) fn parse(page: &str) -> Document<'_> {
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    match Document::parse_with_options(page, options) {
        Ok(document) => document,
        Err(error) => panic!("{error}\n{page}"),
    }
}

#[test]
fn every_page_is_well_formed() {
    for (name, session) in scenes::all() {
        let page = html(&session);
        let document = parse(&page);
        let root = document.root_element();
        assert_eq!(root.tag_name().name(), "html", "{name}");
        assert_eq!(
            root.tag_name().namespace(),
            Some(SVG_NEEDS_NO_NAMESPACE_IN_HTML)
        );
    }
}

#[test]
fn a_page_needs_nothing_and_runs_nothing() {
    for (name, session) in scenes::all() {
        let page = html(&session);
        for node in parse(&page).descendants().filter(|n| n.is_element()) {
            let tag = node.tag_name().name();
            assert!(
                !["script", "link", "img", "iframe"].contains(&tag),
                "{name}"
            );
            for attribute in node.attributes() {
                let attribute = attribute.name();
                let loads = ["src", "href", "style", "srcset"].contains(&attribute);
                assert!(
                    !loads && !attribute.starts_with("on"),
                    "{name}: {attribute}"
                );
            }
        }
        for word in ["url(", "@import", "javascript:"] {
            assert!(!page.contains(word), "{name}: {word}");
        }
    }
}

#[test]
fn tables_have_captions_and_pictures_have_words() {
    for (name, session) in scenes::all() {
        let page = html(&session);
        let document = parse(&page);
        let named = |tag: &'static str| {
            let all = document.descendants();
            all.filter(move |n| n.tag_name().name() == tag)
        };
        for table in named("table") {
            let caption = table.children().find(|n| n.is_element());
            let tag = caption.map(|n| n.tag_name().name());
            assert_eq!(tag, Some("caption"), "{name}");
        }
        let pictures = named("svg").filter(|n| n.attribute("role") == Some("img"));
        for picture in pictures {
            for part in ["title", "desc"] {
                let mut parts = picture.children();
                let part = parts.find(|n| n.tag_name().name() == part);
                let text = part.and_then(|n| n.text()).unwrap_or_default();
                assert!(!text.is_empty(), "{name}: {part:?}");
            }
        }
    }
}

#[test]
fn a_mark_differs_in_shape_from_every_other() {
    let page = html(&scenes::finished());
    let document = parse(&page);
    let legend = document
        .descendants()
        .find(|n| n.attribute("class") == Some("legend"))
        .expect("has a legend");
    let marks: Vec<String> = legend
        .descendants()
        .filter(|n| n.tag_name().name() == "path")
        .map(|n| {
            let class = n.attribute("class").unwrap_or_default();
            let hollow = class.contains("hollow");
            format!("{hollow} {}", n.attribute("d").unwrap_or_default())
        })
        .collect();
    let mut different = marks.clone();
    different.sort();
    different.dedup();
    assert_eq!(marks.len(), 4, "kept, reverted, wrong, crashed");
    assert_eq!(different.len(), marks.len());
}

#[test]
fn a_page_as_it_is() {
    insta::assert_snapshot!(html(&scenes::finished()));
}
