/* empty.c - the least that a dynamically linked program can do. */
int main(void)
{
    return 0;
}
