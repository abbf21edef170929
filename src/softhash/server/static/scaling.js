// Pictures made smaller before they are sent: models look at fewer pixels than cameras make.

const LONG = 1024; // pixels of the longer side
const LIGHT = 400_000; // bytes that are sent as they are
const QUALITY = 0.9;

// A smaller JPEG, upright; the file itself where it is small already or cannot be read here.
export async function scaledDown(file) {
  if (file.size <= LIGHT) return file;
  try {
    const bitmap = await createImageBitmap(file, { imageOrientation: "from-image" });
    const scale = Math.min(1, LONG / Math.max(bitmap.width, bitmap.height));
    const blob = await drawn(bitmap, scale);
    bitmap.close();
    return blob && blob.size < file.size ? blob : file;
  } catch {
    return file;
  }
}

function drawn(bitmap, scale) {
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  const context = canvas.getContext("2d");
  context.fillStyle = "white"; // where the picture is transparent, as on the server
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.imageSmoothingQuality = "high";
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => { canvas.toBlob(resolve, "image/jpeg", QUALITY); });
}

// SHA-256 of a file in hexadecimal; null on a page that is neither of this machine nor by HTTPS.
export async function contentOf(file) {
  if (!globalThis.crypto?.subtle) return null;
  const digest = await crypto.subtle.digest("SHA-256", await file.arrayBuffer());
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
