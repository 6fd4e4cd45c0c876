/* Standard streams that people read. Text that is not the program's own, such as names of a table or a model, passes through
 * dp_text_next on its way there, in all commands; tabs and ends of lines stay. */
#pragma once

/* Standard error, and standard output if it is a terminal. Called once, before anything is printed. Programs that write to the
 * descriptors themselves (frames, progress bars) are not concerned. */
void dp_terminal_guard(void);

/* Standard output, too, wherever it leads. For sentences and for JSON, which stays the same JSON; not for other formats that
 * programs read. */
void dp_terminal_people(void);
