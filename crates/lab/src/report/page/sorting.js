document.querySelectorAll("table.sortable").forEach(function (table) {
  var heads = Array.from(table.tHead.rows[0].cells);
  heads.forEach(function (head, column) {
    var button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", function () {
      var up = head.getAttribute("aria-sort") !== "ascending";
      heads.forEach(function (other) { other.removeAttribute("aria-sort"); });
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      var key = function (row) {
        var cell = row.cells[column];
        return cell.dataset.value || cell.textContent.trim();
      };
      var rows = Array.from(table.tBodies[0].rows);
      rows.sort(function (one, other) {
        var a = key(one), b = key(other), x = Number(a), y = Number(b);
        var order = isNaN(x) || isNaN(y) ? a.localeCompare(b, undefined, { numeric: true }) : x - y;
        return up ? order : -order;
      });
      rows.forEach(function (row) { table.tBodies[0].append(row); });
    });
  });
});
var opened = function () {
  var target = document.getElementById(location.hash.slice(1));
  if (target && target.tagName === "DETAILS") { target.open = true; target.scrollIntoView(); }
};
addEventListener("hashchange", opened);
opened();
