// Writes /openapi.json as a page; nothing is fetched from elsewhere.

function element(name, attributes = {}, ...children) {
  const node = Object.assign(document.createElement(name), attributes);
  node.append(...children);
  return node;
}

function typeOf(schema = {}) {
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(" or ");
  if (schema.enum) return schema.enum.join(", ");
  if (schema.type === "array") return `list of ${typeOf(schema.items)}`;
  if (schema.contentMediaType || schema.format === "binary") return "file";
  return schema.type ?? "any";
}

function boundsOf(schema = {}) {
  const real = schema.anyOf ? schema.anyOf[0] : schema;
  const parts = [];
  if (real.minimum !== undefined) parts.push(`from ${real.minimum}`);
  if (real.maximum !== undefined) parts.push(`to ${real.maximum}`);
  if (schema.default !== undefined) parts.push(`default ${JSON.stringify(schema.default)}`);
  return parts.join(" ");
}

function table(head, rows) {
  const row = (tag, cells) => element("tr", {}, ...cells.map((cell) => element(tag, {}, cell)));
  return element("table", {}, element("thead", {}, row("th", head)),
    element("tbody", {}, ...rows.map((cells) => row("td", cells))));
}

function fieldsOf(schema, schemas) {
  const found = schema.$ref ? schemas[schema.$ref.split("/").pop()] : schema;
  return Object.entries(found.properties ?? {}).map(([name, one]) =>
    [element("code", {}, name), typeOf(one), boundsOf(one), one.description ?? ""]);
}

function operation(method, path, told, schemas) {
  const parts = [element("p", {}, told.description ?? "")];
  const given = (told.parameters ?? []).map((one) =>
    [element("code", {}, one.name), typeOf(one.schema), boundsOf(one.schema), one.description ?? one.schema.description ?? ""]);
  for (const [type, { schema }] of Object.entries(told.requestBody?.content ?? {})) {
    parts.push(element("p", {}, "Send ", element("code", {}, type)));
    given.push(...fieldsOf(schema, schemas));
  }
  if (given.length) parts.push(table(["field", "type", "values", ""], given));
  if (told.security) parts.push(element("p", {}, "Needs ", element("code", {}, "Authorization: Bearer TOKEN")));
  parts.push(table(["status", "answer", ""], Object.entries(told.responses).map(([status, answer]) => {
    const [type, content] = Object.entries(answer.content ?? {})[0] ?? ["", {}];
    const name = content.schema ? typeOf(content.schema) : type;
    const link = schemas[name] ? element("a", { href: `#${name}` }, name) : name;
    return [status, link, answer.description];
  })));
  return element("details", {}, element("summary", {}, element("span", { className: "method" }, method.toUpperCase()),
    element("code", {}, path), element("span", { className: "summary" }, ` ${told.description?.split("\n")[0] ?? ""}`)), ...parts);
}

function show(api) {
  const schemas = api.components.schemas;
  const routes = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, told]) => operation(method, path, told, schemas)));
  const answers = Object.entries(schemas).map(([name, schema]) =>
    element("section", { id: name }, element("h3", {}, name), element("p", {}, schema.description ?? ""),
      table(["field", "type", "values", ""], fieldsOf(schema, schemas))));
  document.getElementById("routes").replaceChildren(
    element("h2", {}, "Routes"), ...routes, element("h2", {}, "Data"), ...answers);
}

fetch("../openapi.json").then((answer) => answer.json()).then(show).catch(() => {
  document.getElementById("routes").textContent = "The description of the API could not be loaded.";
});
