/**
 * The text that the second parser gets: comments gone, literals replaced by neutral ones of the same kind, so that it
 * never reads a byte that our lexer says is data.
 */
import type { Token } from '../googlesql/lexer';
