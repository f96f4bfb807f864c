// On paper everything is open.
"use strict";

addEventListener("beforeprint", () => {
  document.querySelectorAll(".case details").forEach((details) => { details.open = true; });
});
