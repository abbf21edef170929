// Pictures from outside: picked, dropped or pasted. The address keeps their code alone.

const KEPT = 8; // pictures that are held in memory

const known = new Map();

// `sent` is the picture as the server got it, `own` the item whose file it is, if there is one.
export function remember({ code, labels = [], likely = {} }, { file, sent, own }) {
  forget(code);
  const name = file.name || "pasted picture";
  const url = URL.createObjectURL(sent);
  known.set(code, { sent, own, url, name, labels: own?.labels ?? labels, likely });
  if (known.size > KEPT) forget(known.keys().next().value);
}

function forget(code) {
  if (known.has(code)) URL.revokeObjectURL(known.get(code).url);
  known.delete(code);
}

export const uploaded = (code) => known.get(code);

export const isPicture = (file) =>
  file.type.startsWith("image/") || /\.(heic|heif|avif)$/i.test(file.name);

// Call `take(file)` for whatever the user hands to the page.
export function listen(input, overlay, take) {
  let depth = 0; // dragenter and dragleave come for every element that is passed
  const carries = (event) => event.dataTransfer?.types.includes("Files");
  const cover = (change) => {
    depth = change === null ? 0 : Math.max(0, depth + change);
    overlay.hidden = depth === 0;
  };
  input.addEventListener("change", () => {
    if (input.files.length) take(input.files[0]);
    input.value = ""; // so that the same file can be chosen again
  });
  addEventListener("paste", (event) => {
    const [file] = event.clipboardData?.files ?? [];
    if (file) take(file);
  });
  addEventListener("dragenter", (event) => carries(event) && cover(1));
  addEventListener("dragleave", (event) => carries(event) && cover(-1));
  addEventListener("dragover", (event) => carries(event) && event.preventDefault());
  addEventListener("drop", (event) => {
    if (!carries(event)) return;
    event.preventDefault();
    cover(null);
    const files = [...event.dataTransfer.files];
    if (files.length) take(files.find(isPicture) ?? files[0]);
  });
}
