/**
 * Signs that steer a terminal or are not seen: control characters of ASCII and Latin-1, marks of direction, lines and joining. Text by
 * whoever is logged could rewrite with them what was printed before, or pretend to be another text. Line feed, tab and CR LF stay.
 */
export const HIDDEN_SIGNS =
  /\r(?!\n)|[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
