//! What a training says before anything runs.

use windlass_circuits::CostModel;
use windlass_schemes::error::short;
use windlass_schemes::file_sizes;

use super::plan::Training;

impl Training {
    /// The plan in words: shape, bounds, levels, refreshes, keys, bytes, error, price.
    pub fn explain(&self) -> String {
        self.explain_at(&CostModel::default())
    }

    /// As [`Self::explain`], with times by other prices: in seconds where these know the time of a
    /// transform (`context.prices()`).
    pub fn explain_at(&self, prices: &CostModel) -> String {
        let spec = self.spec();
        let deviation = self.deviation().log2();
        let data = file_sizes::in_words(self.data_bytes());
        let refresh_keys = file_sizes::in_words(self.refresh().key_bytes().evaluation_memory);
        let [steps, refreshes] = [self.price_of_steps(), self.price_of_refreshes()];
        format!(
            "logistic regression, {} rows of {} features, {} steps at rate {}\n\
             {:<22}{} x {} rows of {} slots, {data}\n\
             {:<22}features up to {}, weights up to {}, scores up to {}\n\
             {:<22}degree {}, within {:.1e} of the sigmoid\n\
             {:<22}{} a step of the {} after a refresh\n\
             {:<22}{}, of {} slots\n\
             {:<22}{} products of ciphertexts, {} sums\n\
             {:<22}{} Galois keys and the relinearisation key, and those of the refresh ({refresh_keys})\n\
             {:<22}2^{deviation:.1} in a weight (standard deviation), beside that of the polynomial\n\
             {:<22}{} for the steps, {} for the refreshes",
            spec.rows,
            spec.features,
            spec.steps,
            short(spec.learning_rate()),
            "data",
            self.ciphertexts(),
            self.rows_per_ciphertext(),
            self.columns(),
            "bounds",
            short(spec.feature_bound),
            short(spec.weight_bound),
            short(spec.score_bound),
            "polynomial",
            spec.degree,
            self.sigmoid_error(),
            "levels",
            self.levels_per_step(),
            self.depth(),
            "refreshes",
            self.refreshes(),
            self.refresh().spec().slots,
            "a step",
            self.products_per_step(),
            2 * self.ciphertexts() + 1,
            "keys",
            self.required_keys().len(),
            "error",
            "price",
            prices.in_words(steps),
            prices.in_words(refreshes),
        )
    }
}

impl std::fmt::Display for Training {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.explain())
    }
}
