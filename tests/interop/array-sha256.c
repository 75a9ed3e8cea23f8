/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Puts images together and prints the SHA-256 and the state of the one array that comes of them. usage: array-sha256 IMAGE... */
#include <openssl/evp.h>
#include <stdio.h>

#include "stack/stack.h"

static const struct blkalign_node *find_array(const struct stack *stack)
{
	const struct blkalign_graph *graph = stack_graph(stack);
	const struct blkalign_node *found = NULL;

	for (size_t i = 0; i < blkalign_graph_size(graph); i++)
		if (blkalign_node_kind(blkalign_graph_node(graph, i)) == BLKALIGN_KIND_MD)
			found = blkalign_graph_node(graph, i);
	return found;
}

static int print_hash(struct dev *dev, struct blkalign_error *err)
{
	_cleanup_free_ uint8_t *buffer = malloc(MIB);
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	uint8_t digest[32];
	int r = buffer && ctx && EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) ? 0 : -ENOMEM;

	for (uint64_t at = 0; r == 0 && at < dev->size_bytes; at += MIB) {
		size_t length = dev->size_bytes - at < MIB ? dev->size_bytes - at : MIB;

		r = dev_read(dev, at, buffer, length, err);
		EVP_DigestUpdate(ctx, buffer, length);
	}
	if (r == 0)
		EVP_DigestFinal_ex(ctx, digest, NULL);
	EVP_MD_CTX_free(ctx);
	for (unsigned i = 0; r == 0 && i < sizeof(digest); i++)
		printf("%02x", digest[i]);
	return r;
}

int main(int argc, char **argv)
{
	_cleanup_stack_ struct stack *stack = NULL;
	const struct blkalign_node *array;
	struct blkalign_error err = { 0 };
	struct dev *dev;
	int r = stack_new(graph_new("images"), NULL, &stack);

	for (int i = 1; r >= 0 && i < argc; i++)
		r = stack_add_image(stack, argv[i], &err);
	if (r >= 0)
		r = stack_run(stack, &err);
	array = r >= 0 ? find_array(stack) : NULL;
	dev = array ? stack_dev(stack, array) : NULL;
	if (dev)
		r = print_hash(dev, &err);
	if (!dev || r < 0) {
		fprintf(stderr, "%s\n", r < 0 ? err.message : "no array that can be read");
		return EXIT_FAILURE;
	}
	printf(" %s\n", blkalign_node_str(array, BLKALIGN_ATTR_MD_STATE));
	return EXIT_SUCCESS;
}
