// A plot can be saved as a file, which has its title and notes as well.

for (const place of document.querySelectorAll(".save")) {
  const { title, svg } = place.dataset;
  const name = `${index.suite} ${title}`.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 100);
  const store = (blob, kind) => {
    const link = make("a", { href: URL.createObjectURL(blob), download: `${name}.${kind}` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  };
  const saveSvg = async () => store(new Blob([await decompressed(svg).text()], { type: "image/svg+xml" }), "svg");
  const savePng = async () => {
    const image = new Image();
    image.src = `data:image/svg+xml,${encodeURIComponent(await decompressed(svg).text())}`;
    await image.decode();
    // Twice as many pixels, for screens and slides of high density.
    const canvas = make("canvas", { width: 2 * image.width, height: 2 * image.height });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => store(blob, "png"), "image/png");
  };
  const button = (kind, click) => make("button", { type: "button", click, title: `Save as ${kind}`, "aria-label": `Save as ${kind}: ${title}` }, kind);
  place.append(button("SVG", saveSvg), button("PNG", savePng));
}
