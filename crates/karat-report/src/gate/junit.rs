//! Renders the result of a gate as JUnit XML.

use crate::junit::plain;
use karat_format::gate::{DemandOutcomeV1, DemandV1, GateV1};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use std::io;

/// Renders a test suite with one test per demand: a failed demand is a failure, an inconclusive one is skipped.
pub fn draw(gate: &GateV1) -> String {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    // Writing to memory cannot fail.
    let _ = write(gate, &mut writer);
    let mut text = String::from_utf8(writer.into_inner()).unwrap_or_default();
    text.push('\n');
    text
}

fn write(gate: &GateV1, writer: &mut Writer<Vec<u8>>) -> io::Result<()> {
    let count_of =
        |outcome: DemandOutcomeV1| gate.demands.iter().filter(|demand| demand.outcome == outcome).count().to_string();
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    writer.create_element("testsuites").with_attribute(("name", "karat gate")).write_inner_content(|writer| {
        writer
            .create_element("testsuite")
            .with_attribute(("name", plain(&gate.suite).as_str()))
            .with_attribute(("tests", gate.demands.len().to_string().as_str()))
            .with_attribute(("failures", count_of(DemandOutcomeV1::Fails).as_str()))
            .with_attribute(("skipped", count_of(DemandOutcomeV1::Inconclusive).as_str()))
            .write_inner_content(|writer| gate.demands.iter().try_for_each(|demand| test(writer, demand)))?;
        Ok(())
    })?;
    Ok(())
}

fn test(writer: &mut Writer<Vec<u8>>, demand: &DemandV1) -> io::Result<()> {
    let (name, class) = (plain(&demand.demand), plain(demand.tool.as_deref().unwrap_or("all")));
    let (why, message) = (plain(&demand.why), format!("{}: {}", demand.outcome.word(), plain(&demand.why)));
    let element = writer
        .create_element("testcase")
        .with_attribute(("name", name.as_str()))
        .with_attribute(("classname", class.as_str()));
    let kind = match demand.outcome {
        DemandOutcomeV1::Holds => {
            element.write_empty()?;
            return Ok(());
        }
        DemandOutcomeV1::Inconclusive => "skipped",
        DemandOutcomeV1::Fails => "failure",
    };
    element.write_inner_content(|writer| {
        let element = writer.create_element(kind).with_attribute(("message", message.as_str()));
        element.write_text_content(BytesText::new(&why))?;
        Ok(())
    })?;
    Ok(())
}
