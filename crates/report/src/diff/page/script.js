// The script of the page of a difference, after that of all pages.
searched.push(() => {
  const names = all("td.name");
  const of = (cell) => (cell.firstElementChild?.title || cell.title || cell.firstChild?.textContent) ?? "";
  return [(cell) => cell.dataset.kind ?? "function", names, of, (cell) => "#" + cell.parentNode.id];
});
searched.push(() => {
  const causes = all(".sentences tr");
  return [() => "cause", causes, (row) => row.lastElementChild.textContent, (row) => "#" + row.id];
});
searched.push(() => {
  const lines = all("td.code");
  return [() => "line", lines, (cell) => cell.textContent, (cell) => "#" + cell.parentNode.id];
});
