// The theme gives the switches of its navigation no name for screen readers.
document.addEventListener("DOMContentLoaded", () => {
  for (const toggle of document.querySelectorAll("summary:has(.toctree-toggle)")) toggle.ariaLabel = "Subpages";
});
