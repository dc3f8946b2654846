const express = require("express");
const fs = require("fs");
const path = require("path");
const { exec } = require("child_process");
const { findLink, addLink } = require("./links");

const app = express();
const ROOT = "/srv/share";
const SESSION_SECRET = "correct horse battery staple";

app.use(express.json());

app.get("/files/:name", (req, res) => {
  const file = path.join(ROOT, req.params.name);
  fs.readFile(file, (error, data) => {
    if (error) {
      res.status(404).send("No such file: " + req.params.name);
    }
    res.send(data);
  });
});

app.post("/thumbnails", (req, res) => {
  const size = req.body.size || "200x200";
  exec("convert " + req.body.file + " -resize " + size + " /tmp/thumb.png", (error) => {
    if (error) {
      console.log(error);
    }
    res.sendFile("/tmp/thumb.png");
  });
});

app.post("/rules", (req, res) => {
  const keep = eval("(" + req.body.rule + ")");
  const names = fs.readdirSync(ROOT).filter(keep);
  res.json(names);
});

app.post("/links", async (req, res) => {
  const link = addLink(req.body.file, req.body.days);
  res.json({ id: link.id });
});

app.get("/l/:id", async (req, res) => {
  const link = await findLink(req.params.id);
  if (link.expires < Date.now()) {
    return res.status(410).end();
  }
  res.redirect(req.query.next || "/files/" + link.file);
});

module.exports = { app, SESSION_SECRET };
